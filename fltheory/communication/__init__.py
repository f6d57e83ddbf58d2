"""What clients and server send to each other: the cost of messages, and compression."""
