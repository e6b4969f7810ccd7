/**
 * Fetches a git repository: chooses the commit, checks that it may follow the previous commit, and stores its files.
 */
import { compact } from '../../core/compact.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import { compareVersions } from '../../core/text/semver.ts'
import type { Source } from '../../kinds/native/source.ts'
import { ARTIFACT_LIMITS, storeTree } from '../artifact.ts'
import { authorizationOf, credentialsFor } from '../credentials.ts'
import { reusablePrevious, isAccepted } from '../fetch-request.ts'
import type { FetchContext, FetchFailure, FetchOutcome } from '../fetch-request.ts'
import { rewriteToMirror } from '../mirrors.ts'
import { pollIntervalMs } from '../poll-interval.ts'
import { SourceError } from '../source-error.ts'
import { parseSourceUrl } from '../source-url.ts'
import type { SourceUrl } from '../source-url.ts'
import { withAppToken } from '../github-app.ts'
import { chooseCommit, parseRefs, versionOf } from './choose-commit.ts'
import type { ChosenCommit } from './choose-commit.ts'
import { checkLocal, GIT_SCHEMES, withGitAccess } from './git-access.ts'
import type { GitAccessOptions } from './git-access.ts'
import { openGitCache } from './git-cache.ts'
import type { GitAccess, GitCache } from './git-cache.ts'
import { knownFiles, readCommit, tooMuch } from './read-commit.ts'
import { GitError, lastLine, runGit } from './run-git.ts'
import { fetchSubmodules } from './submodules.ts'
import { verifyRevision } from './verify-revision.ts'

type GitSpec = NonNullable<Source['spec']['git']>

/** Depth of the search for the previous commit: it is usually a direct ancestor. */
const DEPTHS = [16, 512, 8192]
/** Sources that are fetched at about the same time share an answer, even after a webhook. */
const HINT_AGE_MS = 1000

export async function fetchGit(spec: GitSpec, context: FetchContext): Promise<FetchOutcome> {
  const asked = parseSourceUrl(spec.url, GIT_SCHEMES)
  const { url, isMirror } = rewriteToMirror(asked, context.mirrors, GIT_SCHEMES)
  if (url.scheme === 'file') checkLocal(url, context.localPaths)
  const credentials = await withAppToken(credentialsFor(url, context.credentials, isMirror), context)
  const { followed, same } = reusablePrevious(context)
  const reader = credentials?.secret
  const { git: program, folder, ids, egress, proxy } = context
  const options = { url, credentials, proxy, program, folder, ids, egress }
  return await followingMoves(options, context, async (access) => {
    if (spec.ref?.commit !== undefined && same?.commit === spec.ref.commit) {
      await confirmReadable(context, () => readRefs(context, access, reader))
      return { kind: 'Same' }
    }
    // Also with a pinned commit, the refs are read first: they prove that the server lets this reader in.
    const refs = await readRefs(context, access, reader)
    const chosen = chooseCommit(refs, spec.ref ?? {})
    if (same?.commit === chosen.commit) return { kind: 'Same' }
    if (context.refused?.commit === chosen.commit) return context.refused
    const cache = await openGitCache({
      program,
      folder,
      reader,
      clock: context.clock,
      access,
      signal: context.signal,
    })
    await cache.fetchCommit(chosen.commit, 1)
    if (followed && followed.commit !== chosen.commit && !isAccepted(context.spec, chosen.commit)) {
      const held = await whyHeld(spec, followed, { chosen, cache })
      if (held) return held
    }
    const verified = spec.verify && (await verifyRevision(spec.verify, { chosen, refs, cache, context }))
    const stored = await storeCommit({ commit: chosen.commit, url: asked }, cache, context).catch(refusedContent)
    if ('reason' in stored) return { ...stored, commit: chosen.commit }
    const revision = revisionOf(chosen)
    const artifact = {
      ...stored,
      ...(await cache.describeCommit(chosen.commit)),
      revision,
      commit: chosen.commit,
      fetchedBytes: cache.bytesFetched(),
      from: url.text,
      ...(verified !== undefined && { verified }),
    }
    return { kind: 'New', artifact }
  })
}

/**
 * Runs git with access to a repository. A server that redirects is asked again at the new address, without
 * credentials: git itself follows no redirect, because it would not check the address of the new host.
 */
async function followingMoves<T>(
  options: GitAccessOptions,
  context: FetchContext,
  work: (access: GitAccess) => Promise<T>,
): Promise<T> {
  try {
    return await withGitAccess(options, work)
  } catch (caught) {
    if (!(caught instanceof GitError)) throw caught
    const { url } = options
    const moved = isRedirect(caught) ? await movedUrl(options, context) : undefined
    if (!moved) throw explained(caught, url)
    // The CA of a Secret is trusted for the host of the Source only.
    const credentials = moved.host === url.host ? options.credentials : undefined
    return await withGitAccess({ ...options, url: moved, credentials }, work).catch((again: unknown) => {
      throw again instanceof GitError ? explained(again, moved) : again
    })
  }
}

const REFS = '/info/refs?service=git-upload-pack'
const MAX_REFS = 32 * 1024 * 1024

/** The address that a server redirects to; undefined when it does not, or when a credential would go there. */
async function movedUrl(
  { url, credentials, proxy }: GitAccessOptions,
  { http, signal }: FetchContext,
): Promise<SourceUrl | undefined> {
  if (proxy || authorizationOf(credentials) !== undefined || credentials?.certificate !== undefined) return undefined
  const asked = `${url.text.replace(/\/+$/, '')}${REFS}`
  const answer = await http({ url: asked, credentials, maxBytes: MAX_REFS, signal })
  if (answer.url === asked || !answer.url.endsWith(REFS)) return undefined
  return parseSourceUrl(answer.url.slice(0, -REFS.length), ['https', 'http'])
}

function isRedirect(error: GitError): boolean {
  return meaningOf(error).reason === 'Redirected'
}

/** The reasons of a server that does not let a reader in. Some servers say that there is nothing. */
const REFUSALS: ReadonlySet<string> = new Set(['AuthenticationFailed', 'RepositoryNotFound'])

/**
 * A commit never changes, but the right to read it can end. A server that does not answer takes no right away, so the
 * artifact stays.
 */
async function confirmReadable(context: FetchContext, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (caught) {
    context.signal.throwIfAborted()
    if (caught instanceof GitError && (REFUSALS.has(meaningOf(caught).reason) || isRedirect(caught))) throw caught
  }
}

/** The refs as this reader sees them. Readers share no answer. */
async function readRefs(
  context: FetchContext,
  access: GitAccess,
  reader: string | undefined,
): Promise<Map<string, string>> {
  const named = context.spec.git?.ref?.name
  const special = named === undefined || /^refs\/(heads|tags)\//.test(named) ? [] : [named]
  const ask = async (): Promise<Map<string, string>> => {
    // A cheap request first: in most cases the commit has not changed.
    const args = ['ls-remote', '--quiet', '--', access.url, 'HEAD', 'refs/heads/*', 'refs/tags/*', ...special]
    const output = await runGit(context.git, { ...access, args, signal: context.signal })
    return parseRefs(Buffer.from(output).toString('utf8'))
  }
  // What one proxy says is not said to those who do not use it.
  const key = digestOfJson(
    compact({ url: access.url, secret: reader, special: special.length > 0 ? special : undefined, via: context.proxy }),
  )
  const maxAgeMs = context.isHinted ? HINT_AGE_MS : pollIntervalMs(context.spec) * 0.8
  return await context.polls.answer(key, maxAgeMs, ask)
}

function revisionOf({ name, commit }: ChosenCommit): string {
  return name === commit.slice(0, 12) ? `sha1:${commit}` : `${name}@sha1:${commit}`
}

interface Candidate {
  readonly chosen: ChosenCommit
  readonly cache: GitCache
}

/** The reason why a commit must not follow the previous commit; undefined when it may. */
async function whyHeld(
  spec: GitSpec,
  last: NonNullable<FetchContext['previous']>,
  { chosen, cache }: Candidate,
): Promise<FetchOutcome | undefined> {
  const revision = revisionOf(chosen)
  const held = (reason: string, what: string): FetchOutcome => ({ kind: 'Held', revision, reason, message: what })
  const lastName = last.revision.split('@')[0] ?? ''
  if (spec.ref?.semver !== undefined && lastName !== chosen.name) {
    // Releases may come from different branches, so versions define their order.
    const [was, is] = [versionOf(lastName), versionOf(chosen.name)]
    if (!was || !is || compareVersions(is, was) > 0) return undefined
    return held('WentBack', `The newest tag in the range is ${chosen.name} now, older than ${lastName}`)
  }
  for (const depth of DEPTHS) {
    const descends = await cache.isAncestor(last.commit, chosen.commit)
    if (descends === true) return undefined
    if (descends === false) break
    await cache.fetchCommit(chosen.commit, depth)
  }
  if ((await cache.isAncestor(last.commit, chosen.commit)) === true) return undefined
  if (await isOlder(chosen.commit, last.commit, cache)) {
    return held('WentBack', `${chosen.name} went back to ${chosen.commit}, which is older than ${last.commit}`)
  }
  return held(
    'HistoryRewritten',
    `${chosen.name} is at ${chosen.commit} now, which does not descend from ${last.commit}`,
  )
}

/**
 * Returns true if a commit is known to be older than the previous commit. The server may already have deleted the
 * previous commit.
 */
async function isOlder(commit: string, last: string, cache: GitCache): Promise<boolean> {
  try {
    for (const depth of DEPTHS) {
      const isKnown = await cache.isAncestor(commit, last)
      if (isKnown !== undefined) return isKnown
      await cache.fetchCommit(last, depth)
    }
    return (await cache.isAncestor(commit, last)) === true
  } catch (caught) {
    if (caught instanceof GitError) return false
    throw caught
  }
}

async function storeCommit(
  { commit, url }: { readonly commit: string; readonly url: SourceUrl },
  cache: GitCache,
  context: FetchContext,
) {
  const { blobs, spec } = context
  const reading = { known: await knownFiles(context), bytes: 0, files: 0, submodules: 0 }
  const read = await readCommit({ commit, cache, prefix: '', reading }, context)
  const isWithin = spec.git?.submodules === 'Fetch' && read.submodules.length > 0
  const inner = isWithin ? await fetchSubmodules({ ...read, url, commit, cache, reading, depth: 1 }, context) : []
  const stored = await storeTree([...read.files, ...inner], blobs)
  if (stored.bytes > ARTIFACT_LIMITS.bytes) throw tooMuch()
  return stored
}

/** A failure of the content is permanent; any other failure may be temporary. */
function refusedContent(caught: unknown): FetchFailure {
  if (!(caught instanceof SourceError) || caught.retry) throw caught
  return { kind: 'Failed', reason: caught.reason, message: caught.message, retry: false }
}

const MEANINGS: readonly (readonly [words: RegExp, reason: string, says: string])[] = [
  [
    /Authentication failed|could not read (Username|Password)|HTTP Basic: Access denied|error: 401|error: 403|Permission denied/i,
    'AuthenticationFailed',
    'the server refuses these credentials',
  ],
  [/Host key verification failed/i, 'HostKeyUnknown', "the server's key is not in known_hosts of the Secret"],
  [
    /error: 30[1278]|redirect/i,
    'Redirected',
    'the server redirects, and credentials are not taken along; name the final address in spec.git.url',
  ],
  [
    /not our ref|Server does not allow request for unadvertised|unadvertised object/i,
    'CommitNotFound',
    'it has no such commit, or does not give it away',
  ],
  [
    /not found|does not exist|does not appear to be a git repository|no such file/i,
    'RepositoryNotFound',
    'there is no repository at this address, or not for these credentials',
  ],
  [/Could not resolve host/i, 'HostNotFound', 'the name of the host is not known'],
  [/transport '.*' not allowed/i, 'TransportNotAllowed', 'it leads to a transport that is not allowed'],
  [/certificate|SSL/i, 'CertificateNotTrusted', 'its certificate is not trusted; put its CA into ca.crt of the Secret'],
]

function meaningOf(error: GitError): { readonly reason: string; readonly says: string } {
  const meaning = MEANINGS.find(([words]) => words.test(error.stderr))
  const [, reason, says] = meaning ?? [undefined, 'FetchFailed', 'git failed']
  return { reason, says }
}

function explained(error: GitError, url: SourceUrl): SourceError {
  const said = lastLine(error.stderr)
  const { reason, says } = meaningOf(error)
  return new SourceError(reason, `${url.text}: ${says} (git: ${said}).`, { retry: true, cause: error })
}
