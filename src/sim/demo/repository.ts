/** The demo's git repository: bare, below a directory of the demo, written with plumbing. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { concatBytes, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { programEnvironment } from '../../hub/config.ts'

/** A repository on disk. */
export interface Repository {
  readonly path: string
  /** How many there were when it was opened. */
  readonly commits: number
  /** Commits files to the branch `main`. Returns the new commit. */
  commit(message: string, files: Readonly<Record<string, string>>): Promise<string>
}

const AUTHOR = 'Ana Demo <ana@example.com>'

/** Opens the repository in a folder of its own, and makes it when there is none. */
export async function createRepository(folder: string, clock: Pick<Clock, 'now'>): Promise<Repository> {
  const path = join(folder, 'fleet.git')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const environment = {
    PATH: programEnvironment().path,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  const git = (args: readonly string[], input: Uint8Array = new Uint8Array()): Promise<string> =>
    new Promise((done, fail) => {
      const child = execFile('git', [...args], { env: environment }, (error, stdout, stderr) => {
        if (error) fail(new Error(`git ${args[0]}: ${stderr.trim() || error.message}`, { cause: error }))
        else done(stdout.trim())
      })
      child.stdin?.on('error', () => {}) // git ended early; its exit says why
      child.stdin?.end(input)
    })
  await git(['init', '--quiet', '--bare', '--initial-branch=main', path])
  const known = await git([`--git-dir=${path}`, 'rev-list', '--count', '--all'])
  const commits = Number(known)
  let isEmpty = commits === 0
  return {
    path,
    commits,
    commit: async (message, files) => {
      const at = `${Math.floor(clock.now() / 1000)} +0000`
      const data = (text: string): Uint8Array[] => {
        const bytes = utf8(text)
        return [utf8(`data ${bytes.length}\n`), bytes, utf8('\n')]
      }
      const parts = [utf8(`commit refs/heads/main\ncommitter ${AUTHOR} ${at}\n`), ...data(message)]
      if (!isEmpty) parts.push(utf8('from refs/heads/main^0\n'))
      for (const [name, content] of Object.entries(files)) {
        parts.push(utf8(`M 100644 inline ${JSON.stringify(name)}\n`), ...data(content))
      }
      parts.push(utf8('done\n'))
      await git([`--git-dir=${path}`, 'fast-import', '--quiet', '--done'], concatBytes(parts))
      isEmpty = false
      return await git([`--git-dir=${path}`, 'rev-parse', 'refs/heads/main'])
    },
  }
}
