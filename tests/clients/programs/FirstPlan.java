import fedsift.client.ApiClient;
import fedsift.client.api.PlansApi;
import fedsift.client.model.*;
import java.net.http.HttpClient;
import java.util.List;

/** Plans once with the generated Java client: `java FirstPlan URL KEY`. */
public class FirstPlan {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setHttpClientBuilder(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1));
    client.updateBaseUri(arguments[0]);
    client.setRequestInterceptor(request -> request.header("X-API-Key", arguments[1]));
    DeviceColumns devices = new DeviceColumns()
        .data(List.of(600.0, 580.0, 610.0))
        .processingCapacity(List.of(2000.0, 900.0, 1200.0))
        .processingCost(List.of(0.8, 1.0, 0.9))
        .receiveCapacity(List.of(200.0, 100.0, 150.0))
        .transmitBudget(List.of(80.0, 60.0, 70.0));
    LinkTopology links = new LinkTopology()
        .kind(LinkTopology.KindEnum.LINKS)
        .source(List.of(1, 2))
        .target(List.of(0, 0))
        .similarity(List.of(0.4, 0.1))
        .transmitCost(List.of(0.5, 0.7));
    PlanRequest request = new PlanRequest()
        .network(new Network().devices(devices).topology(new Topology(links)))
        .sampleSize(1)
        .horizon(4);
    Plan plan = new PlansApi(client).createPlan(request, null).getPlan();
    System.out.println("planned " + plan.getSampled() + " " + plan.getStatus());
  }
}
