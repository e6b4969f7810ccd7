/** What a command of the clone runs, and which dependencies that needs. */
export interface Launch {
  readonly needs: 'none' | 'prod' | 'dev'
  readonly script: string
  readonly args: readonly string[]
}
/** glibc's settings for a hub. */
export const HUB_HEAP: Readonly<Record<string, string>>
export function launch(what: Launch): Promise<void>
export function cacheDir(): string
export function npmCommand(node?: string): { readonly command: string; readonly args: readonly string[] }
export function holdLock(file: string, onWait: (pid: number) => void): Promise<() => void>
