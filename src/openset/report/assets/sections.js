"use strict";
// Charts that do not move.
