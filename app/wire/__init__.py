"""What goes over the wire, and its conversion to and from the domain."""
