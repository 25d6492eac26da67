"""gRPC: status codes and the details that travel beside them."""
