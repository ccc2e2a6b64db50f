// E4: what developers do all day runs behind the sandbox, in both tiers, as root and as an ordinary user.
import { BUILD_WORKS } from "./build_works.ts";
import { GIT_WORKS } from "./git_works.ts";
import { NODE_WORKS } from "./node_works.ts";
import { PYTHON_WORKS } from "./python_works.ts";
import { SHELL_WORKS } from "./shell_works.ts";
import { describeWorks } from "./works.ts";

describeWorks([...SHELL_WORKS, ...GIT_WORKS, ...NODE_WORKS, ...PYTHON_WORKS, ...BUILD_WORKS]);
