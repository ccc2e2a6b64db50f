/** Where git's settings are: the home folder, and the values of the environment that move them. */
export type GitSettings = {
  home: string;
  xdgConfigHome?: string | undefined;
  /** GIT_CONFIG_GLOBAL */
  globalFile?: string | undefined;
  /** GIT_CONFIG_SYSTEM */
  systemFile?: string | undefined;
};

/** The settings as the environment has them. */
export function gitSettingsOf(env: Readonly<Record<string, string>>, home: string): GitSettings {
  return {
    home,
    xdgConfigHome: env["XDG_CONFIG_HOME"],
    globalFile: env["GIT_CONFIG_GLOBAL"],
    systemFile: env["GIT_CONFIG_SYSTEM"],
  };
}
