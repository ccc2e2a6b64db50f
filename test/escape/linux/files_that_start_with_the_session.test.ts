import { expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 nothing is planted that runs at the next login, by cron or by the loader",
  ["sh"],
  async ({ scratch, shell }) => {
    writeFileSync(join(scratch.home, ".profile"), "first\n");
    const end = await shell(`
for path in ~/.profile ~/.bashrc ~/.zshenv ~/.config/autostart/x.desktop ~/.config/systemd/user/x.service ~/.config/git/config ~/.gitconfig ~/.ssh/authorized_keys ~/.local/bin/git ~/.cargo/config.toml ~/.npmrc /etc/ld.so.preload /etc/profile.d/x.sh /etc/cron.d/x /var/spool/cron/crontabs/x /usr/local/bin/git; do
  mkdir -p "$(dirname $path)" 2>/dev/null; echo evil >> $path && echo PLANTED $path
done
crontab -l 2>/dev/null; echo '* * * * * evil' | crontab - 2>/dev/null && echo PLANTED crontab
echo own > own && cat own`);
    expect(end.stdout).toBe("own\n");
    expect(readFileSync(join(scratch.home, ".profile"), "utf8")).toBe("first\n");
    expect(existsSync("/etc/ld.so.preload")).toBe(false);
  },
);
