"""Every format in the shape that its program writes it, made by hand, and what becomes of it."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest

from app.http.problems import TooLargeError
from app.imports.assembly import Defaults, Imported, make_fleet
from app.imports.draft import Source
from app.imports.formats import read_sources
from app.imports.graphs import fleet_from_networkx
from app.wire.budget import MemoryBudget
from solver.errors import InvalidInputError


def imported(text: str | bytes, *more: str, format_name: str | None = None) -> Imported:
    texts = [text.encode() if isinstance(text, str) else text, *(other.encode() for other in more)]
    sources = [Source(f"file{i}", content) for i, content in enumerate(texts)]
    return make_fleet(read_sources(sources, format_name), Defaults())


def losses(found: Imported) -> dict[tuple[str, str], float]:
    return {(link["from"], link["to"]): link.get("loss", 0) for link in found.fleet["links"]}


def devices(found: Imported) -> dict[str, dict[str, Any]]:
    return {device["id"]: device for device in found.fleet["devices"]}


MESH = {
    "nodes": 3,
    "latitude": [53.1, None, 53.2],
    "longitude": [8.9, None, 8.8],
    "source": [0, 1, 1, 2],
    "target": [1, 0, 2, 1],
    "quality": [0.9176, 1.0, 0.5, 0.0],
}


def test_a_mesh_as_columns() -> None:
    found = imported(json.dumps(MESH))
    assert losses(found) == {("0", "1"): 0.0824, ("1", "0"): 0, ("1", "2"): 0.5}
    assert devices(found)["0"]["latitude"] == 53.1
    assert "latitude" not in devices(found)["1"]
    assert "left out 1 link over which (almost) nothing arrives" in found.report.notes
    assert "1 pair of devices linked both ways, 1 one way only" in found.report.notes


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"^file0, quality: must have 4 entries, has 1$"):
        imported(json.dumps({**MESH, "quality": [1.0]}))
    with pytest.raises(InvalidInputError, match=r"^file0, link 0: from: there is no device '7'$"):
        imported(json.dumps({**MESH, "source": [7, 1, 1, 2]}))


def test_networkx_node_link_is_undirected_unless_it_says_so() -> None:
    nodes = [{"id": "a", "datapoints": 50, "label_counts": {"car": 50}}, {"id": "b", "load": 0.25}]
    graph = {"directed": False, "nodes": nodes, "links": [{"source": "a", "target": "b", "loss": 0.1, "mbps": 2}]}
    found = imported(json.dumps(graph))
    assert losses(found) == {("a", "b"): 0.1, ("b", "a"): 0.1}
    assert devices(found)["a"]["label_counts"] == {"car": 50}
    assert "1 pair of devices linked both ways, 0 one way only; the other way of 1 was added with the same values" in (
        found.report.notes
    )
    assert list(losses(imported(json.dumps({**graph, "directed": True})))) == [("a", "b")]


def test_nodes_without_ids_are_numbered() -> None:
    found = imported(json.dumps({"nodes": [{"load": 0.1}, {}], "edges": [{"source": 0, "target": 1}]}))
    assert list(devices(found)) == ["0", "1"]
    assert len(losses(found)) == 2


def test_netjson_costs_are_etx() -> None:
    graph = {
        "type": "NetworkGraph",
        "protocol": "olsr",
        "nodes": [{"id": "10.0.0.1", "properties": {"lat": 50.5, "lon": 7.1}}, {"id": "10.0.0.2"}],
        "links": [{"source": "10.0.0.1", "target": "10.0.0.2", "cost": 1.25}],
    }
    found = imported(json.dumps(graph))
    assert losses(found)["10.0.0.1", "10.0.0.2"] == 0.2
    assert devices(found)["10.0.0.1"]["longitude"] == 7.1


def test_meshviewer_has_a_quality_for_each_end() -> None:
    graph = {
        "nodes": [{"node_id": "c4", "location": {"latitude": 51, "longitude": 12}}, {"node_id": "d8"}],
        "links": [{"source": "c4", "target": "d8", "source_tq": 0.75, "target_tq": 0.5, "type": "wifi"}],
    }
    assert losses(imported(json.dumps(graph))) == {("c4", "d8"): 0.25, ("d8", "c4"): 0.5}


def test_a_fleet_is_completed() -> None:
    fleet = {
        "step_seconds": 30,
        "devices": [{"id": "cam", "datapoints": 9000}, {"id": "hub", "may_train": False, "group": "site-a"}],
        "links": [{"from": "cam", "to": "hub", "similarity": 0.4}],
    }
    found = imported(json.dumps(fleet)).fleet
    assert found["step_seconds"] == 30
    assert found["devices"][1] == {
        "id": "hub",
        "datapoints": 600,
        "samples_per_second": 40,
        "group": "site-a",
        "may_train": False,
    }
    assert found["links"] == [{"from": "cam", "to": "hub", "mbps": 6, "similarity": 0.4}]


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="datapoints" attr.type="int"><default>70</default></key>
  <key id="d1" for="edge" attr.name="quality" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="a"/>
    <node id="b"><data key="d0">90</data></node>
    <edge source="a" target="b"><data key="d1">0.8</data></edge>
  </graph>
</graphml>
"""


def test_graphml() -> None:
    found = imported(GRAPHML)
    assert [device["datapoints"] for device in found.fleet["devices"]] == [70, 90]
    assert losses(found) == {("a", "b"): 0.2, ("b", "a"): 0.2}
    directed = imported(GRAPHML.replace("undirected", "directed"))
    assert list(losses(directed)) == [("a", "b")]


def test_graphml_as_networkx_writes_it() -> None:
    import networkx as nx

    graph = nx.DiGraph(step_seconds=20)
    graph.add_node("cam-1", datapoints=30, latitude=51.5)
    graph.add_edge("cam-1", "cam-2", etx=1.25, mbps=11.0)
    by_file = imported("\n".join(nx.generate_graphml(graph)))
    directly = fleet_from_networkx(graph)
    assert by_file.fleet == directly.fleet
    assert directly.fleet["step_seconds"] == 20
    graph.graph |= {"name": "mesh", "epochs": 2}
    by_file = imported("\n".join(nx.generate_graphml(graph)))
    for found in (by_file, fleet_from_networkx(graph)):
        assert "ignored: epochs" in " ".join(found.report.notes)
        assert "name" not in " ".join(found.report.notes)
    assert directly.fleet["links"] == [{"from": "cam-1", "to": "cam-2", "mbps": 11, "loss": 0.2}]


def test_entities_are_refused() -> None:
    laughs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha" * 10}">' for i in range(10))
    text = GRAPHML.replace("<graphml ", f"<!DOCTYPE graphml [{laughs}]>\n<graphml ", 1).replace("0.8", "&e9;")
    with pytest.raises(InvalidInputError, match=r"^file0, line 2: declares an XML entity"):
        imported(text)
    file = '<!DOCTYPE graphml [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(InvalidInputError, match="declares an XML entity"):
        imported(GRAPHML.replace("<graphml ", f"{file}<graphml ", 1))


DEVICES = "id,datapoints,airtime_seconds [ms],may_send,colour\ncam-1,100,2500,yes,red\ncam-2,,,no,\n"
LINKS = "from;to;mbps (kbit/s);loss [%]\ncam-1;cam-2;5500;10\ncam-2;cam-1;;\n"


@pytest.mark.parametrize("texts", [(DEVICES, LINKS), (LINKS, DEVICES)])
def test_csv_in_two_files_with_units(texts: tuple[str, str]) -> None:
    found = imported(*texts)
    assert devices(found)["cam-1"]["airtime_seconds"] == 2.5
    assert devices(found)["cam-2"] == {
        "id": "cam-2",
        "datapoints": 600,
        "samples_per_second": 40,
        "may_send": False,
    }
    assert found.fleet["links"][0] == {"from": "cam-1", "to": "cam-2", "mbps": 5.5, "loss": 0.1}
    assert "ignored: colour" in found.report.notes


def test_an_ignored_column_is_reported_with_the_field_that_may_be_meant() -> None:
    found = imported("id,data points,Load,loading\na,20,0.5,1\n")
    assert devices(found)["a"]["datapoints"] == 600
    hints = (
        "ignored: data points (did you mean `datapoints`?), Load (did you mean `load`?), loading (did you mean `load`?)"
    )
    assert hints in found.report.notes
    assert "ignored: loading" in imported("id,load,loading\na,0.5,1\n").report.notes


def test_csv_of_links_alone_names_the_devices() -> None:
    assert list(devices(imported("source,target\na,b\nb,c\n"))) == ["a", "b", "c"]


JSONINFO = {
    "pid": 1,
    "topology": [
        {"lastHopIP": "10.0.0.1", "destinationIP": "10.0.0.2", "linkQuality": 0.5, "neighborLinkQuality": 0.8},
        {"lastHopIP": "10.0.0.2", "destinationIP": "10.0.0.1", "linkQuality": 0.75, "neighborLinkQuality": 0.4},
        {"lastHopIP": "10.0.0.1", "destinationIP": "10.0.0.3", "linkQuality": 0.25, "neighborLinkQuality": 0.9},
    ],
}
TXTINFO = """Table: Links
Local IP\tRemote IP\tHyst.\tLQ\tNLQ\tCost
10.0.0.1\t10.0.0.2\t0.000\t1.000\t1.000\t1.000

Table: Topology
Dest. IP\tLast hop IP\tLQ\tNLQ\tCost
10.0.0.2\t10.0.0.1\t0.500\t0.800\t2.500
10.0.0.1\t10.0.0.2\t0.750\t0.400\t3.333
10.0.0.3\t10.0.0.1\t0.250\t0.900\t4.444

Table: HNA
Destination\tGateway
0.0.0.0/0\t10.0.0.1
"""


@pytest.mark.parametrize("text", [json.dumps(JSONINFO), TXTINFO])
def test_olsr(text: str) -> None:
    assert losses(imported(text)) == {
        ("10.0.0.1", "10.0.0.2"): 0.2,
        ("10.0.0.2", "10.0.0.1"): 0.6,
        ("10.0.0.1", "10.0.0.3"): 0.1,
        ("10.0.0.3", "10.0.0.1"): 0.75,
    }


VIS_LINES = """{ "primary" : "02:01" }
{ "secondary" : "02:99", "of" : "02:01" }
{ "router" : "02:99", "neighbor" : "02:02", "label" : "1.250" }
{ "router" : "02:01", "neighbor" : "02:02", "label" : "2.000" }
{ "router" : "02:01", "gateway" : "ee:01", "label" : "TT" }
{ "primary" : "02:02" }
{ "router" : "02:02", "neighbor" : "02:01", "label" : "1.000" }
"""
VIS = {
    "source_version": "2016.5",
    "algorithm": 4,
    "vis": [
        {
            "primary": "02:01",
            "secondary": ["02:99"],
            "neighbors": [
                {"router": "02:99", "neighbor": "02:02", "metric": "1.250"},
                {"router": "02:01", "neighbor": "02:02", "metric": "2.000"},
            ],
            "clients": ["ee:01"],
        },
        {"primary": "02:02", "neighbors": [{"router": "02:02", "neighbor": "02:01", "metric": "1.000"}]},
    ],
}
DOT = """digraph {
	subgraph "cluster_02:01" {
		"02:01" [peripheries=2]
		"02:99"
	}
	"02:99" -> "02:02" [label="1.250"]
	"02:01" -> "02:02" [label="2.000"]
	"02:01" -> "ee:01" [label="TT"]
	"02:01" [shape=box]
	subgraph "cluster_02:02" {
		"02:02" [peripheries=2]
	}
	"02:02" -> "02:01" [label="1.000"]
}
"""


@pytest.mark.parametrize("text", [VIS_LINES, json.dumps(VIS), DOT])
def test_batman(text: str) -> None:
    found = imported(text)
    assert list(devices(found)) == ["02:01", "02:02"]
    assert losses(found) == {("02:01", "02:02"): 0.2, ("02:02", "02:01"): 0}
    assert "left out 1 link beside a better one between the same devices" in found.report.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file0: is empty"),
        (b"\x80\x04\x95", "file0: looks like a pickle, which can run any code when it is loaded; write the graph as "),
        (b"id\n\xff\n", "file0, line 2: is not UTF-8 text"),
        ('{"nodes": [],\n "links": }', "file0, line 2, column 11: is not JSON: Expecting value"),
        ("[" * 100_000, "file0: is not JSON that can be read"),
        ("[1]", "file0: must be a JSON object"),
        ('{"a": 1}', "file0: has none of nodes and links"),
        ('{"nodes": []}', "node-link JSON: has no devices"),
        ('{"nodes": 3, "source": 4}', "file0, source: must be a list"),
        ('{"nodes": [4]}', "file0, nodes[0]: must be an object"),
        ('{"nodes": [{"id": "a"}, {"id": "a"}]}', "file0, nodes[1]: id 'a' appears twice"),
        ('{"nodes": [{"id": "a"}, {}]}', "file0, nodes[1]: id is missing"),
        ('{"nodes": [{"id": [1]}]}', "file0, nodes[0]: id [1] must be text"),
        ('{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "file0, links[0]: to is missing"),
        ('{"devices": [{"id": 1, "load": 2}]}', "file0, devices[0]: load 2 must be from 0 to 1"),
        ('{"devices": [{"id": 1, "datapoints": true}]}', "file0, devices[0]: datapoints True must be from 0 to"),
        ('{"devices": [{"id": 1, "datapoints": 1e999}]}', "file0, devices[0]: datapoints inf must be from 0 to"),
        ('{"devices": [{"id": 1, "may_send": "so"}]}', "file0, devices[0]: may_send 'so' must be true or false"),
        ('{"devices": [{"id": 1, "label_counts": [3]}]}', "file0, devices[0]: label_counts must be an object: class"),
        ('{"step_seconds": 0, "devices": [{"id": 1}]}', "fleet (JSON): step_seconds 0 must be from 0.001 to 1e+09"),
        (
            '{"devices": [{"id": 1, "storage_datapoints": 9}]}',
            "fleet (JSON), device '1': storage_datapoints 9 must be at ",
        ),
        ('{"devices": [{"id": 1, "airtime_seconds": 61}]}', "fleet (JSON), device '1': airtime_seconds 61 must be at "),
        (
            f'{{"devices": [{{"id": "{"x" * 129}"}}]}}',
            f"file0, devices[0]: id '{'x' * 39}… is longer than 128 characters",
        ),
        ("<graphml><graph><node id='a'></graph>", "file0, line 1: is not well-formed XML: mismatched tag"),
        ("<html><body/></html>", "file0, line 1: is not GraphML: it has the element 'html'"),
        ("<graphml/>", "file0: has no graph"),
        ("<graphml><graph><hyperedge/></graph></graphml>", "file0, line 1: has a hyperedge; a link joins two devices"),
        ("name,size\na,1\n", "file0, line 1: its first line must name the column id, for devices, or from and to"),
        ("id,id\na,1\n", "file0, line 1: names the column 'id' twice"),
        ("id,datapoints\na,1,2\n", "file0, line 2: has 3 cells, its header 2"),
        ("id,datapoints\na,many\n", "file0, line 2: datapoints 'many' is not a number"),
        ("id,airtime_seconds [years]\na,1\n", "file0, line 2: airtime_seconds has the unknown unit 'years'; known: s"),
        ('id,datapoints\n"a"b,1\n', "file0, line 2: is not CSV: "),
        ("from,to,quality\na,b,90\n", "file0, line 2: quality '90' must be from 0 to 1"),
        ('{"topology": [{"lastHopIP": "a"}]}', "file0, topology[0]: must have lastHopIP and destinationIP"),
        ("Table: Topology\nDest. IP\tLast hop IP\tLQ\na b\n", "file0, line 3: must have destination, last hop, LQ and"),
        ("Table: HNA\n", "file0: has no table with destination, last hop, LQ and NLQ"),
        ('{"vis": [{}]}', "file0, vis[0]: must be an object with the address primary"),
        ('{"primary": "a"}\n{"router": "a", "neighbor": "b"}\n', "file0, line 2: the label None is not a number"),
        ('{"primary": "a"}\n{nonsense\n', "file0, line 2, column 2: is not JSON: Expecting property name"),
        ('{"primary": "a"}\n{}\n[1]\n', "file0, line 3: is not a JSON object"),
        ('digraph {\n"a" -> "b"\n}\n', "file0, line 2: the link has no label"),
        ('digraph {\n"a" -> "b" -> "c"\n}\n', "file0, line 2: is neither a link nor a node"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        imported(text)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_the_format_can_be_named() -> None:
    listed = '"a" -> "b" [label="2"]\n'
    assert losses(imported(f"\n{listed}", format_name="batman")) == {("a", "b"): 0.5}
    with pytest.raises(InvalidInputError, match=r"^format: 'excel' is unknown; known: json, graphml, csv, olsr, bat"):
        imported(listed, format_name="excel")
    with pytest.raises(InvalidInputError, match=r"^file1: only CSV may be in two files, devices and links$"):
        imported(GRAPHML, LINKS)


def spaces(count: int) -> str:
    return " " * count


@pytest.mark.parametrize(
    "text",
    [
        f"digraph {{\na{spaces(1500)}x\n}}",
        f"digraph {{\na -> b{spaces(1500)}x\n}}",
        f"digraph {{\nsubgraph cluster_a{spaces(30_000)}x\n}}",
        json.dumps({"nodes": [{"id": "a", f"{spaces(500)}x{spaces(500)}[": 1}], "links": []}),
        f"Table: Topology\n{'dest ' * 30_000}\n",
        f"id,{','.join(map(str, range(20_000)))}\n",
    ],
    ids=["node", "link", "cluster", "heading", "table", "columns"],
)
def test_a_line_takes_no_more_time_than_its_length(text: str) -> None:
    begin = time.process_time()
    with suppress(InvalidInputError):
        imported(text)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("key", ["airtime_seconds [ms]", "  airtime_seconds(ms) ", "airtime_seconds  [ms]"])
def test_a_unit_stands_in_brackets_with_or_without_spaces(key: str) -> None:
    found = imported(json.dumps({"nodes": [{"id": "a", key: 500}], "links": []}))
    assert devices(found)["a"]["airtime_seconds"] == 0.5


def test_what_a_document_declares_for_attributes_is_refused() -> None:
    declared = '<!DOCTYPE graphml [<!ATTLIST node id CDATA "default">]>'
    text = f'<?xml version="1.0"?>\n{declared}\n<graphml><graph><node/></graph></graphml>'
    with pytest.raises(InvalidInputError, match="^file0, line 2: declares the attributes of an element"):
        imported(text)


def test_graphml_is_utf_8_whatever_it_declares() -> None:
    text = '<?xml version="1.0" encoding="cp500"?><graphml><graph><node id="ä"/></graph></graphml>'
    assert list(devices(imported(text))) == ["ä"]
    with pytest.raises(InvalidInputError, match="is not well-formed XML"):
        imported(text.encode("cp500"), format_name="graphml")


def test_defaults_of_graphml_are_charged_for_every_row() -> None:
    keys = "".join(f'<key id="{i}" for="node" attr.name="n{i}"><default>1</default></key>' for i in range(1000))
    nodes = "".join(f'<node id="{i}"/>' for i in range(1000))
    memory = MemoryBudget(100_000_000, 1)
    with memory.account(), pytest.raises(TooLargeError, match="^giving each node its defaults takes the request to"):
        imported(f"<graphml>{keys}<graph>{nodes}</graph></graphml>")
