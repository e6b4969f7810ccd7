/** The objects of a GitRepo. */
import { RE2JS } from 're2js'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, OwnerReference } from '../../../kinds/meta.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { CompiledBundle } from './compile-bundle.ts'
import { FleetBundle, GitRepo } from '../kinds.ts'
import { bundleObject } from './read-git-repo.ts'
import type { RemoteSpec } from './remote-chart.ts'

/** The label with the name of the GitRepo; the same label as in Fleet. */
export const REPO_LABEL = 'fleet.cattle.io/repo-name'
/** The annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'

// A new value starts a fetch at once.
const POLL = 'flotilla.dev/poll'

/** The guard of the GitRepo judges its Bundles together; 2147483647 is the largest integer of the API. */
const NO_LIMIT = { maxAdded: 2_147_483_647 }

/** An object that should exist. */
export interface Desired {
  readonly kind: Kind
  readonly object: KubeObject & { spec: unknown }
}

/** The order of writes: an object that another object names comes first. */
export const MADE_KINDS: readonly Kind[] = [Source, Placement, RolloutPlan, Bundle, FleetBundle]

/** The Source of a GitRepo, fetched with this Secret. */
export function sourceOf(repo: GitRepo, credentials?: string): Desired {
  const { spec } = repo
  const url = text(spec['repo'])
  const force = spec['forceSyncGeneration']
  const poll = typeof force === 'number' && force > 0 ? { annotations: { [POLL]: `fleet-${force}` } } : {}
  const revision = text(spec['revision'])
  const webhook = text(spec['webhookSecret'])
  const ref =
    revision === ''
      ? { branch: text(spec['branch']) || 'master' }
      : isCommit(revision)
        ? { commit: revision }
        : { tag: revision }
  return made(
    repo,
    Source,
    { name: repo.metadata.name, ...poll },
    {
      git: { url, ref },
      interval: spec['disablePolling'] === true ? '24h' : intervalOf(text(spec['pollingInterval'])),
      ...(credentials === undefined ? {} : { credentials }),
      ...(webhook === '' ? {} : { webhook: { secret: webhook } }),
    },
  )
}

const isCommit = (revision: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)

/** The polling interval. Fleet's durations may have fractions of seconds, and default to 15 s. */
function intervalOf(interval: string): string {
  return /^(\d+[hms])+$/.test(interval) && !/^0+[hms]$/.test(interval) ? interval : '15s'
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** All objects except the Source. */
export function desiredOf(repo: GitRepo, bundles: readonly CompiledBundle[]): Desired[] {
  const { namespace = '' } = repo.metadata
  const helmSecret = chartSecret(repo)
  const found = new Map<string, Desired>()
  const add = (one: Desired): void =>
    void found.set(`${one.kind.kind}.${one.kind.group}/${one.object.metadata.name}`, one)
  for (const bundle of bundles) {
    for (const { source, spec } of bundle.charts) {
      add(
        made(
          repo,
          Source,
          { name: source },
          {
            ...spec,
            // An archive stays the same until its address changes.
            interval: spec.helm && spec.helm.chart === undefined ? '1h' : '15m',
            ...(helmSecret(spec) ? { credentials: text(repo.spec['helmSecretName']) } : {}),
          },
        ),
      )
    }
    add(
      made(
        repo,
        Placement,
        { name: bundle.placement.name, ...released(repo) },
        { ...bundle.placement.spec, guard: NO_LIMIT },
      ),
    )
    add(made(repo, RolloutPlan, { name: bundle.plan.name }, bundle.plan.spec))
    const { metadata, spec } = bundleObject(bundle, namespace)
    add(made(repo, Bundle, { ...metadata, ...released(repo, metadata.annotations) }, { ...spec, guard: NO_LIMIT }))
    const row = {
      path: bundle.path || '.',
      ...(bundle.paused ? { paused: true } : {}),
      ...(bundle.spec.defaultNamespace ? { defaultNamespace: bundle.spec.defaultNamespace } : {}),
      ...(bundle.spec.targetNamespace ? { namespace: bundle.spec.targetNamespace } : {}),
    }
    add(made(repo, FleetBundle, metadata, row))
  }
  const order = (one: Desired): number => MADE_KINDS.indexOf(one.kind)
  return [...found.values()].sort((a, b) => order(a) - order(b))
}

/**
 * Whether the Secret for charts is used for a chart: as in Fleet, only if helmRepoURLRegex matches the start of its
 * address.
 */
function chartSecret({ spec }: GitRepo): (chart: RemoteSpec) => boolean {
  const pattern = text(spec['helmRepoURLRegex'])
  if (text(spec['helmSecretName']) === '' || pattern === '') return () => false
  const regex = RE2JS.compile(`^(?:${pattern})`)
  return ({ helm, oci, git }) => regex.matcher(helm?.url ?? oci?.url ?? git?.url ?? '').find()
}

/** A person releases a guarded change on the GitRepo; its Placements and Bundles get the token. */
function released(
  { metadata }: GitRepo,
  annotations: Readonly<Record<string, string>> = {},
): { readonly annotations?: Readonly<Record<string, string>> } {
  const token = metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  return token === undefined ? {} : { annotations: { ...annotations, [ALLOW_DROP_ANNOTATION]: token } }
}

interface Named {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

function made(repo: GitRepo, kind: Kind, metadata: Named, spec: unknown): Desired {
  const labels = { ...metadata.labels, [REPO_LABEL]: labelOf(repo) }
  const compiled = digestOfJson({ spec, labels, annotations: metadata.annotations ?? {} })
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name: metadata.name,
        namespace: repo.metadata.namespace ?? '',
        labels,
        annotations: { ...metadata.annotations, [COMPILED]: compiled },
        ownerReferences: [ownerOf(repo)],
      },
      spec,
    },
  }
}

/** Names may be longer than labels. */
function labelOf({ metadata: { name } }: GitRepo): string {
  return name.length <= 63 ? name : `${name.slice(0, 50).replace(/[^a-z0-9]+$/, '')}-${digestOfJson(name).slice(7, 19)}`
}

function ownerOf({ metadata }: GitRepo): OwnerReference {
  return {
    apiVersion: apiVersionOf(GitRepo),
    kind: GitRepo.kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  }
}

/** Whether an object was made for this GitRepo, and not for an earlier GitRepo of the same name. */
export function isOwnedBy(object: KubeObject, repo: GitRepo): boolean {
  return (object.metadata.ownerReferences ?? []).some(
    ({ uid, kind }) => kind === GitRepo.kind && uid === repo.metadata.uid,
  )
}
