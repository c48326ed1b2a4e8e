"""Archives and compressed files from untrusted sources: ``zips`` and ``streams`` read them safely, ``budget`` limits what one run unpacks."""
