import type { Property } from "../../contract/plan.ts";

/** Claude Code's keys that mean nothing here. They are taken, so that a file can be shared, and `policy lint` lists them. */
export const CLAUDE_KEYS: readonly string[] =
  `agent allowManagedHooksOnly allowManagedMcpServersOnly allowedHttpHookUrls allowedMcpServers alwaysThinkingEnabled apiKeyHelper
  attribution autoMemoryDirectory autoMode autoUpdatesChannel availableModels awsAuthRefresh awsCredentialExport blockedMarketplaces
  channelsEnabled cleanupPeriodDays companyAnnouncements defaultShell deniedMcpServers disableAutoMode
  disabledMcpjsonServers effortLevel enableAllProjectMcpServers enabledMcpjsonServers enabledPlugins env extraKnownMarketplaces
  fastModePerSessionOptIn fileSuggestion forceLoginMethod forceLoginOrgUUID httpHookAllowedEnvVars includeCoAuthoredBy
  includeGitInstructions language model modelOverrides otelHeadersHelper outputStyle plansDirectory pluginTrustMessage
  prefersReducedMotion respectGitignore showTurnDuration skipDangerousModePermissionPrompt spinnerTipsEnabled
  spinnerTipsOverride spinnerVerbs statusLine strictKnownMarketplaces teammateMode terminalProgressBarEnabled
  useAutoModeDuringPlan voiceEnabled worktree`
    .trim()
    .split(/\s+/);

/** The same inside `sandbox`. This sandbox is always on, and has no way round it. */
export const CLAUDE_SANDBOX_KEYS: readonly string[] = [
  "enabled",
  "failIfUnavailable",
  "autoAllowBashIfSandboxed",
  "allowUnsandboxedCommands",
  "excludedCommands",
  "credentials",
  "enableWeakerNestedSandbox",
  "enableWeakerNetworkIsolation",
  "ignoreViolations",
  "allowAppleEvents",
  "ripgrep",
];

/** And inside `sandbox.network`. */
export const CLAUDE_NETWORK_KEYS: readonly string[] = [
  "strictAllowlist",
  "allowLocalBinding",
  "allowAllUnixSockets",
  "allowManagedDomainsOnly",
  "allowMachLookup",
  "httpProxyPort",
  "socksProxyPort",
];

/** And inside `permissions`. */
export const CLAUDE_PERMISSION_KEYS: readonly string[] = ["disableAutoMode", "skipDangerousModePermissionPrompt"];

/** The names that `require` takes. */
export const PROPERTIES: Readonly<Record<Property, true>> = {
  "fs.write_confined": true,
  "fs.read_confined": true,
  "fs.read_hidden": true,
  "fs.protected": true,
  "net.blocked": true,
  "net.loopback": true,
  "proc.isolated": true,
  "env.scrubbed": true,
  "keyring.blocked": true,
  "syscalls.filtered": true,
  limits: true,
};
