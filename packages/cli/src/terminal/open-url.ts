import { spawn } from 'node:child_process';

/** How long what opens the page may take until it counts as started, in ms. Some of them stay as long as the page. */
const STARTED_AFTER = 1500;

/**
 * Opens a URL in the person's browser. No shell stands in between, so that nothing in the URL is a command
 * (security best practices, "URL Validation"; URL-15).
 *
 * @throws Error when no browser could be started.
 */
export async function openUrl(
  url: string,
  {
    platform = process.platform,
    env = process.env,
  }: { platform?: NodeJS.Platform; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const [command, ...args] = OPENERS[platform] ?? ['xdg-open'];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, shell: false, env });
    const timer = setTimeout(resolve, STARTED_AFTER);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`${command} could not open it.`));
    });
    child.unref();
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
