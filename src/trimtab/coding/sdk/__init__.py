"""What programs that hold a session need beside it: how it is opened, its replies and streams, tools made of functions. `trimtab.coding` exports it."""
