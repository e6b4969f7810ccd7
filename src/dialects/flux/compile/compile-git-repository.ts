/** Compiles a GitRepository to a Source. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { Finding } from '../../read-fields.ts'
import { GIT_REPOSITORY } from '../fields.ts'
import { GitRepository } from '../kinds.ts'
import { listOf, readSpec, sourceFor, textOf } from './compile-source.ts'
import type { Desired } from './made-objects.ts'

/** An entry of `spec.include`. */
export interface Include {
  readonly repository: string
  readonly fromPath: string
  readonly toPath: string
}

/** The spec of a GitRepository as Flux reads it. */
export interface GitRepositorySpec {
  readonly url: string
  readonly ref: FluxGitRef
  readonly ignore: string
  readonly include: readonly Include[]
  readonly sparseCheckout: readonly string[]
  readonly suspend: boolean
  readonly recurseSubmodules: boolean
  /** What must be signed, in Flux's words. */
  readonly verify: { readonly mode: FluxVerificationMode; readonly secret: string } | undefined
  readonly proxy: string
}

/** Modes of verification. */
export type FluxVerificationMode = 'HEAD' | 'Tag' | 'TagAndHEAD'

interface FluxGitRef {
  readonly branch?: string
  readonly tag?: string
  readonly semver?: string
  readonly name?: string
  readonly commit?: string
}

/** The spec, and findings about it. */
export function readGitRepository(object: GitRepository): { spec: GitRepositorySpec; findings: readonly Finding[] } {
  const { read, findings } = readSpec(object.spec, GIT_REPOSITORY)
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  const provider = textOf(read['provider']) || 'generic'
  if (provider !== 'generic' && provider !== 'github') {
    wrong(`provider is ${JSON.stringify(provider)}, which is not served; use generic with a Secret in secretRef`)
  }
  if (provider === 'github' && textOf(isObject(read['secretRef']) ? read['secretRef']['name'] : '') === '') {
    wrong('secretRef with the keys of a GitHub App is required when provider is "github"')
  }
  const ref = isObject(read['ref']) ? (read['ref'] as FluxGitRef) : {}
  const verify = readVerify(read['verify'], ref, wrong)
  const proxy = isObject(read['proxySecretRef']) ? textOf(read['proxySecretRef']['name']) : ''
  const interval = textOf(read['interval'])
  if (!(Number(parseDuration(interval)) > 0))
    wrong(`interval is ${JSON.stringify(interval)}; write a duration such as 5m`)
  if (textOf(read['url']) === '') wrong('url must name a git repository')
  const include = listOf(read['include']).flatMap((one) => {
    const repository = textOf(isObject(one['repository']) ? one['repository']['name'] : undefined)
    if (repository === '') wrong('include needs repository.name')
    const fromPath = textOf(one['fromPath'])
    return [{ repository, fromPath, toPath: textOf(one['toPath']) || repository }]
  })
  return {
    findings,
    spec: {
      url: textOf(read['url']),
      ref,
      ignore: textOf(read['ignore']),
      include,
      sparseCheckout: (Array.isArray(read['sparseCheckout']) ? read['sparseCheckout'] : []) as string[],
      suspend: read['suspend'] === true,
      recurseSubmodules: read['recurseSubmodules'] === true,
      verify,
      proxy,
    },
  }
}

/** The Source of a GitRepository. */
export function sourceOf(object: GitRepository, spec: GitRepositorySpec): Desired {
  const paths = spec.sparseCheckout.map(directoryOf)
  const follows: Partial<Source['spec']> = compact({
    git: compact({
      url: spec.url,
      ref: refOf(spec.ref),
      submodules: spec.recurseSubmodules ? ('Fetch' as const) : ('Ignore' as const),
      verify: spec.verify && { mode: SIGNED[spec.verify.mode], keys: spec.verify.secret },
    }),
    proxy: spec.proxy || undefined,
    paths: paths.length === 0 || paths.includes('') ? undefined : paths,
  })
  return sourceFor(object, GitRepository, follows, object.spec)
}

const SIGNED = { HEAD: 'Commit', Tag: 'Tag', TagAndHEAD: 'TagAndCommit' } as const

function readVerify(value: unknown, ref: FluxGitRef, wrong: (message: string) => void): GitRepositorySpec['verify'] {
  if (!isObject(value)) return undefined
  // `head` is of v1beta2.
  const said = textOf(value['mode']) || 'HEAD'
  const mode = said === 'head' ? 'HEAD' : said
  const secret = isObject(value['secretRef']) ? textOf(value['secretRef']['name']) : ''
  if (mode !== 'HEAD' && mode !== 'Tag' && mode !== 'TagAndHEAD') {
    wrong(`verify.mode is ${JSON.stringify(said)}; use HEAD, Tag or TagAndHEAD`)
    return undefined
  }
  if (secret === '') wrong('verify.secretRef.name must name a Secret with public keys')
  const isTag =
    !ref.commit && ((ref.name ?? '').startsWith('refs/tags/') || (!ref.name && Boolean(ref.tag || ref.semver)))
  if (mode !== 'HEAD' && !isTag) {
    wrong("verify.mode needs a tag: cannot verify tag object's signature if a tag reference is not specified")
  }
  return { mode, secret }
}

/** The one field that counts. */
function refOf({ name, commit, tag, semver, branch }: FluxGitRef): FluxGitRef {
  if (name) return { name: name.replace(/\^\{\}$/, '') }
  if (commit) return { commit }
  if (tag) return { tag }
  if (semver) return { semver }
  return { branch: branch || 'master' }
}

function directoryOf(path: string): string {
  return path.replace(/^(\.?\/)+|\/+$/g, '').replace(/^\.$/, '')
}

/** The revision of an artifact in Flux's form: the name of the reference and the commit. */
export function fluxRevision({ name, commit, branch }: FluxGitRef, revision: string): string {
  const hash = revision.slice(revision.lastIndexOf('@') + 1)
  if (name) return `${name}@${hash}`
  return commit && branch ? `${branch}@${hash}` : revision
}
