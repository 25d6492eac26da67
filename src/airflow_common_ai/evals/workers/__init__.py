"""The processes in which a policy is asked: forked once it is loaded, killed when they hang."""
