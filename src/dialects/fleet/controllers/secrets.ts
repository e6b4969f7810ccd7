/** The Secrets of a GitRepo: the Secret of its Source, bound to its server when its annotation allows no server yet. */
import type { Context } from '../../../engine/reconciler.ts'
import { Source } from '../../../kinds/native/source.ts'
import { bindingFor, FALLBACK_SECRET, mayBeSent } from './bind-secret.ts'
import type { Desired } from '../compile/desired-objects.ts'
import type { GitRepo } from '../kinds.ts'
import type { GitRepoPorts } from './ports.ts'

interface Scene {
  readonly ports: Pick<GitRepoPorts, 'secret' | 'bind' | 'find' | 'sourceOf'>
  readonly context: Context
}

/** The Secret for git; a Source that is ready already has the right Secret. */
export async function gitSecret(repo: GitRepo, { ports, context }: Scene): Promise<string | undefined> {
  const { name, namespace = '' } = repo.metadata
  const named = textOf(repo.spec['clientSecretName'])
  const url = textOf(repo.spec['repo'])
  const source = ports.sourceOf(namespace, name)
  const used = source?.spec.credentials
  const isKept = named === '' ? used === undefined || used === FALLBACK_SECRET : used === named
  if (source && isKept && source.spec.git?.url === url && isReady(source)) return used
  const secret = await ports.secret(namespace, named || FALLBACK_SECRET, context.signal)
  const binding = secret && bindingFor(secret, [url], 'git')
  if (secret && binding !== undefined) await ports.bind(secret, binding, context)
  if (named !== '') return named
  // The GitRepo does not name this default Secret: where the Secret is not allowed, git is fetched without it.
  return secret && (binding !== undefined || mayBeSent(secret, url)) ? FALLBACK_SECRET : undefined
}

/** Binds the Secret for charts to the servers that the GitRepo or HelmOp allows. */
export async function bindChartSecret(
  repo: Pick<GitRepo, 'metadata' | 'spec'>,
  desired: readonly Desired[],
  scene: Scene,
): Promise<void> {
  const { ports, context } = scene
  const { namespace = '' } = repo.metadata
  const name = textOf(repo.spec['helmSecretName'])
  if (name === '') return
  const charts = desired.flatMap(({ kind, object }) =>
    kind === Source && (object as Source).spec.credentials === name ? [object as Source] : [],
  )
  const areReady = charts.every(({ metadata }) => isReady(ports.find(Source, namespace, metadata.name) as Source))
  if (areReady) return
  const secret = await ports.secret(namespace, name, context.signal)
  const urls = charts.flatMap(({ spec }) => spec.helm?.url ?? spec.oci?.url ?? spec.git?.url ?? [])
  const binding = secret && bindingFor(secret, urls, 'helm')
  if (secret && binding !== undefined) await ports.bind(secret, binding, context)
}

function isReady(source: Source | undefined): boolean {
  return source?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
