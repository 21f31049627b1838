"""`python -m trimtab`."""

from trimtab.main import main

raise SystemExit(main())
