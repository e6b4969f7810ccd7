// Tested by src/source/git/submodules.contract.test.ts.
/** Fetches the files of submodules: other repositories at commits that a repository names. */
import type { ArtifactFile } from '../artifact.ts'
import { credentialsFor, isBoundTo } from '../credentials.ts'
import type { FetchContext } from '../fetch-request.ts'
import { withAppToken } from '../github-app.ts'
import { rewriteToMirror } from '../mirrors.ts'
import { SourceError } from '../source-error.ts'
import { parseSourceUrl } from '../source-url.ts'
import type { SourceUrl } from '../source-url.ts'
import { shownPath } from '../tree-entries.ts'
import type { TreeEntry } from '../tree-entries.ts'
import { checkLocal, GIT_SCHEMES, withGitAccess } from './git-access.ts'
import { openGitCache } from './git-cache.ts'
import type { GitCache } from './git-cache.ts'
import { readCommit } from './read-commit.ts'
import type { Reading } from './read-commit.ts'
import { GitError, lastLine, runGit } from './run-git.ts'

/** A repository with submodules. */
export interface WithSubmodules {
  /** Its own address: that of a submodule can be relative to it. */
  readonly url: SourceUrl
  readonly commit: string
  readonly cache: GitCache
  readonly entries: readonly TreeEntry[]
  readonly submodules: readonly TreeEntry[]
  readonly reading: Reading
  readonly depth: number
  /** The directory of the repository in the artifact, with a slash at its end. */
  readonly prefix?: string
}

const MAX_SUBMODULES = 64
const MAX_DEPTH = 5
const MODULES = '.gitmodules'

/** The files of all submodules, and of theirs. */
export async function fetchSubmodules(outer: WithSubmodules, context: FetchContext): Promise<ArtifactFile[]> {
  const { submodules, depth, reading } = outer
  if (depth > MAX_DEPTH) throw refused(`submodules are nested more than ${MAX_DEPTH} deep`)
  // All of the fetch: five levels of 64 would be a thousand million.
  reading.submodules += submodules.length
  if (reading.submodules > MAX_SUBMODULES) {
    throw refused(`there are ${reading.submodules} submodules, more than the ${MAX_SUBMODULES} allowed`)
  }
  const addresses = await readModules(outer, context)
  const files: ArtifactFile[] = []
  for (const module of submodules) {
    const address = addresses.get(module.path.slice((outer.prefix ?? '').length))
    if (address === undefined)
      throw refused(`${shownPath(module.path)} is a submodule without an address in ${MODULES}`)
    const url = parseSourceUrl(absoluteAddress(address, outer.url), GIT_SCHEMES)
    files.push(...(await fetchSubmodule(module, { url, outer }, context)))
  }
  return files
}

async function fetchSubmodule(
  module: TreeEntry,
  { url: asked, outer }: { readonly url: SourceUrl; readonly outer: WithSubmodules },
  context: FetchContext,
): Promise<ArtifactFile[]> {
  // As git itself does: who writes a repository elsewhere does not choose what is read from the disk of the hub.
  if (asked.scheme === 'file' && outer.url.scheme !== 'file') {
    throw refused(`submodule ${shownPath(module.path)} is at ${asked.text}, and the repository is not a local one`)
  }
  const { url, isMirror } = rewriteToMirror(asked, context.mirrors, GIT_SCHEMES)
  if (url.scheme === 'file') checkLocal(url, context.localPaths)
  // The repository chooses this address, so a credential that is not for it is not sent, and is no error.
  const own = context.credentials && isBoundTo(context.credentials, url) ? context.credentials : undefined
  const credentials = await withAppToken(credentialsFor(url, own, isMirror), context)
  const { git: program, folder, ids, egress, proxy, clock, signal } = context
  const reader = credentials?.secret
  const { reading, depth } = outer
  const prefix = `${module.path}/`
  try {
    return await withGitAccess({ url, credentials, proxy, program, folder, ids, egress }, async (access) => {
      const cache = await openGitCache({ program, folder, reader, clock, access, signal })
      await cache.fetchCommit(module.oid, 1)
      const read = await readCommit({ commit: module.oid, cache, prefix, reading }, context)
      const inner = { ...read, url: asked, commit: module.oid, cache, reading, depth: depth + 1, prefix }
      return [...read.files, ...(read.submodules.length > 0 ? await fetchSubmodules(inner, context) : [])]
    })
  } catch (caught) {
    if (!(caught instanceof GitError)) throw caught
    const words = `submodule ${shownPath(module.path)} at ${url.text}: ${lastLine(caught.stderr)}`
    throw new SourceError('SubmoduleFailed', `${words}.`, { retry: true, cause: caught })
  }
}

/** Path → address, from the file of the commit. */
async function readModules({ commit, cache, entries, prefix = '' }: WithSubmodules, context: FetchContext) {
  const file = entries.find(({ path }) => path === `${prefix}${MODULES}`)
  if (!file || !file.mode.startsWith('100')) return new Map<string, string>()
  await cache.fetchFiles(commit, [file], false)
  let text = ''
  await cache.readFiles([file], async (_oid, bytes) => void (text = Buffer.from(bytes).toString('utf8')))
  try {
    const args = ['config', '--no-includes', '--file', '-', '--null', '--list']
    return parseModules(await runGit(context.git, { args, input: text, signal: context.signal }))
  } catch (caught) {
    if (!(caught instanceof GitError)) throw caught
    throw refused(`${MODULES} cannot be read (git: ${lastLine(caught.stderr)})`)
  }
}

/** `submodule.NAME.path` and `.url`, of submodules that have both. */
function parseModules(listing: Uint8Array): ReadonlyMap<string, string> {
  const found = new Map<string, { path?: string; url?: string }>()
  for (const entry of Buffer.from(listing).toString('utf8').split('\0')) {
    const [, name, field, value] = /^submodule\.([\s\S]+)\.(path|url)\n([\s\S]*)$/.exec(entry) ?? []
    if (name === undefined || field === undefined) continue
    found.set(name, { ...found.get(name), [field]: value })
  }
  return new Map(
    [...found.values()].flatMap(({ path, url }) =>
      path !== undefined && url !== undefined ? [[path.replace(/\/+$/, ''), url] as const] : [],
    ),
  )
}

/** An address that begins with `./` or `../` is relative to that of the repository. */
export function absoluteAddress(address: string, { text }: SourceUrl): string {
  if (!/^\.\.?\//.test(address)) return address
  let base = text.replace(/\/+$/, '')
  let rest = address
  for (;;) {
    if (rest.startsWith('./')) rest = rest.slice(2)
    else if (rest.startsWith('../')) {
      rest = rest.slice(3)
      const cut = base.replace(/(?<![:/])[/:][^/:]+$/, '')
      if (cut === base) throw refused(`the address ${JSON.stringify(address)} of a submodule leaves its server`)
      base = cut
    } else return `${base}/${rest}`
  }
}

function refused(why: string): SourceError {
  return new SourceError('Submodule', `${why[0]!.toUpperCase()}${why.slice(1)}.`)
}
