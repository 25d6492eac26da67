"""HTTP: status, wait headers, vendor codes and words of an answer."""
