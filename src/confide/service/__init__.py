"""What people can do, one use case a file: the command line, the façade and a server call these."""
