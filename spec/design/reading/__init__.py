"""From text to a design: the file with its lines, the schema, parameters, copies, kinds, lints."""
