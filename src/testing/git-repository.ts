/** Bare git repositories for tests, written with plumbing, so that they may hold what a work tree never could. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a path of a commit holds. */
export type GitContent = string | Uint8Array | { readonly link: string } | { readonly submodule: string }

/** A repository on disk. */
export interface TestRepository {
  /** The bare repository's directory. */
  readonly path: string
  /** Commits these files, and nothing else, on a branch; `parents` are those of the branch unless said. */
  commit(files: Readonly<Record<string, GitContent>>, options?: CommitOptions): string
  /** Writes a commit whose tree has one entry with exactly this name; git's own checks are left out. */
  commitRaw(name: Uint8Array, content: string, branch?: string): string
  tag(name: string, commit: string, message?: string): void
  git(...args: readonly string[]): string
  remove(): void
}

/** Where a commit goes. */
export interface CommitOptions {
  readonly branch?: string
  readonly parents?: readonly string[]
}

const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}

/** Makes an empty repository in a temporary directory. */
export function createTestRepository(): TestRepository {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-git-'))
  const path = join(folder, 'repo.git')
  let seconds = 1_700_000_000
  const run = (args: readonly string[], input?: Uint8Array | string): string =>
    execFileSync('git', [...args], {
      input: input ?? '',
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        ...ENVIRONMENT,
        GIT_AUTHOR_DATE: `${seconds} +0000`,
        GIT_COMMITTER_DATE: `${seconds} +0000`,
      },
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'pipe'],
    }).toString('utf8')
  run(['init', '--quiet', '--bare', '--initial-branch=main', path])
  const git = (...args: readonly string[]): string => run([`--git-dir=${path}`, ...args]).trim()

  function branchTip(branch: string): string | undefined {
    try {
      return git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
    } catch {
      return undefined
    }
  }

  function finish(tree: string, { branch = 'main', parents }: CommitOptions): string {
    seconds += 60
    const tip = branchTip(branch)
    const before = parents ?? (tip === undefined ? [] : [tip])
    const commit = git('commit-tree', tree, '-m', `commit ${seconds}`, ...before.flatMap((parent) => ['-p', parent]))
    git('update-ref', `refs/heads/${branch}`, commit)
    return commit
  }

  return {
    path,
    git,
    commit: (files, options = {}) => {
      const chunks: Buffer[] = []
      const add = (text: string): void => void chunks.push(Buffer.from(text))
      add(`commit refs/scratch\ncommitter T <t@example.com> ${seconds} +0000\ndata 0\ndeleteall\n`)
      for (const [name, content] of Object.entries(files)) {
        const quoted = JSON.stringify(name)
        if (typeof content === 'object' && 'submodule' in content) {
          add(`M 160000 ${content.submodule} ${quoted}\n`)
          continue
        }
        const isLink = typeof content === 'object' && 'link' in content
        const bytes = Buffer.from(isLink ? content.link : content)
        add(`M ${isLink ? '120000' : '100644'} inline ${quoted}\ndata ${bytes.length}\n`)
        chunks.push(bytes)
        add('\n')
      }
      add('done\n')
      run([`--git-dir=${path}`, 'fast-import', '--quiet', '--force', '--done'], Buffer.concat(chunks))
      const tree = git('rev-parse', 'refs/scratch^{tree}')
      git('update-ref', '-d', 'refs/scratch')
      return finish(tree, options)
    },
    commitRaw: (name, content, branch) => {
      const blob = run([`--git-dir=${path}`, 'hash-object', '-w', '--stdin'], content).trim()
      const entry = Buffer.concat([Buffer.from('100644 '), name, Buffer.from([0]), Buffer.from(blob, 'hex')])
      const tree = run([`--git-dir=${path}`, 'hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], entry).trim()
      return finish(tree, branch === undefined ? {} : { branch })
    },
    tag: (name, commit, message) =>
      void (message === undefined ? git('tag', name, commit) : git('tag', '-a', '-m', message, name, commit)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
