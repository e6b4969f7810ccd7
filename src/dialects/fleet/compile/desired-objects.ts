/** The objects of a GitRepo or a HelmOp. */
import { RE2JS } from 're2js'
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, OwnerReference } from '../../../kinds/meta.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { CompiledBundle } from './compile-bundle.ts'
import type { WrittenBundle } from '../compile-written-bundle.ts'
import { FleetBundle, GitRepo, HelmOp } from '../kinds.ts'
import { bundleObject, FLEET_GROUP } from './read-git-repo.ts'
import type { RemoteSpec } from './remote-chart.ts'

/** The label with the name of the GitRepo; the same label as in Fleet. */
export const REPO_LABEL = 'fleet.cattle.io/repo-name'
/** The annotation with the digest of the object's inputs: the object is written only when it changes. */
export const COMPILED = 'flotilla.dev/compiled'

/** The label with the name of the HelmOp; the same label as in Fleet. */
export const HELM_OP_LABEL = 'fleet.cattle.io/fleet-helm-name'

/** The label with the name of a Bundle that a person wrote; BundleDeployments of Fleet have it. */
export const BUNDLE_LABEL = 'fleet.cattle.io/bundle-name'

/** The object that others are made for. */
interface Maker {
  readonly kind: Kind
  readonly label: string
  readonly metadata: KubeObject['metadata']
}

const repoMaker = ({ metadata }: GitRepo): Maker => ({ kind: GitRepo, label: REPO_LABEL, metadata })
const bundleMaker = ({ metadata }: FleetBundle): Maker => ({ kind: FleetBundle, label: BUNDLE_LABEL, metadata })
const helmOpMaker = ({ metadata }: HelmOp): Maker => ({ kind: HelmOp, label: HELM_OP_LABEL, metadata })

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

/** The Source of a GitRepo as it is, and fetched no more. */
export function suspendedSource(repo: GitRepo, { spec }: Source): Desired {
  return made(repoMaker(repo), Source, { name: repo.metadata.name }, { ...spec, suspend: true })
}

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
    repoMaker(repo),
    Source,
    { name: repo.metadata.name, ...poll },
    compact({
      git: { url, ref },
      interval: spec['disablePolling'] === true ? '24h' : intervalOf(text(spec['pollingInterval'])),
      credentials,
      webhook: webhook === '' ? undefined : { secret: webhook },
    }),
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
  const helmSecret = chartSecret(repo)
  return objectsOf(repoMaker(repo), bundles, {
    guard: { guard: NO_LIMIT },
    annotations: released(repo),
    chart: (spec) =>
      compact({
        // An archive stays the same until its address changes.
        interval: spec.helm && spec.helm.chart === undefined ? '1h' : '15m',
        credentials: helmSecret(spec) ? text(repo.spec['helmSecretName']) : undefined,
      }),
  })
}

/** All objects of a HelmOp. */
export function helmOpObjects(op: HelmOp, bundle: CompiledBundle): Desired[] {
  const secret = text(op.spec['helmSecretName'])
  const polling = text(op.spec['pollingInterval'])
  return objectsOf(helmOpMaker(op), [bundle], {
    guard: {},
    annotations: {},
    chart: () =>
      compact({
        interval: polling === '' ? '24h' : intervalOf(polling),
        credentials: secret === '' ? undefined : secret,
      }),
  })
}

/** All objects of a Bundle that a person wrote. */
export function writtenBundleObjects(bundle: FleetBundle, { compiled, files }: WrittenBundle): Desired[] {
  const objects = objectsOf(bundleMaker(bundle), [compiled], {
    guard: {},
    annotations: released(bundle),
    chart: (spec) => ({ interval: spec.helm && spec.helm.chart === undefined ? '1h' : '15m' }),
    hasNoRow: true,
  })
  if (files.length === 0) return objects
  // The files change with the Bundle alone, so there is nothing to look for in between.
  const source = made(bundleMaker(bundle), Source, { name: compiled.name }, { inline: { files }, interval: '24h' })
  return [source, ...objects]
}

interface ObjectOptions {
  /** Whether the maker itself shows the status of the Bundle. */
  readonly hasNoRow?: boolean
  readonly guard: object
  readonly annotations: Readonly<Record<string, string>>
  /** Fields of the Source of a chart, besides its address. */
  chart(spec: RemoteSpec): object
}

function objectsOf(maker: Maker, bundles: readonly CompiledBundle[], options: ObjectOptions): Desired[] {
  const { namespace = '' } = maker.metadata
  const { guard } = options
  const found = new Map<string, Desired>()
  const add = (one: Desired): void =>
    void found.set(`${one.kind.kind}.${one.kind.group}/${one.object.metadata.name}`, one)
  const withRelease = (annotations?: Readonly<Record<string, string>>) => {
    const all = { ...annotations, ...options.annotations }
    return Object.keys(all).length === 0 ? {} : { annotations: all }
  }
  for (const bundle of bundles) {
    for (const { source, spec } of bundle.charts)
      add(made(maker, Source, { name: source }, { ...spec, ...options.chart(spec) }))
    const placement = { name: bundle.placement.name, ...withRelease() }
    add(made(maker, Placement, placement, { ...bundle.placement.spec, ...guard }))
    add(made(maker, RolloutPlan, { name: bundle.plan.name }, bundle.plan.spec))
    const { metadata, spec } = bundleObject(bundle, namespace)
    add(made(maker, Bundle, { ...metadata, ...withRelease(metadata.annotations) }, { ...spec, ...guard }))
    if (options.hasNoRow) continue
    const row = compact({
      path: bundle.path || '.',
      paused: bundle.paused ? true : undefined,
      defaultNamespace: bundle.spec.defaultNamespace || undefined,
      namespace: bundle.spec.targetNamespace || undefined,
    })
    add(made(maker, FleetBundle, metadata, row))
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

/** A person releases a guarded change on the GitRepo or Bundle; its Placements and Bundles get the token. */
function released({ metadata }: Pick<KubeObject, 'metadata'>): Readonly<Record<string, string>> {
  const token = metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  return token === undefined ? {} : { [ALLOW_DROP_ANNOTATION]: token }
}

interface Named {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

function made(maker: Maker, kind: Kind, metadata: Named, spec: unknown): Desired {
  const labels = { ...metadata.labels, [maker.label]: labelOf(maker) }
  const compiled = digestOfJson({ spec, labels, annotations: metadata.annotations ?? {} })
  return {
    kind,
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        name: metadata.name,
        namespace: maker.metadata.namespace ?? '',
        labels,
        annotations: { ...metadata.annotations, [COMPILED]: compiled },
        ownerReferences: [ownerOf(maker)],
      },
      spec,
    },
  }
}

/** Names may be longer than labels. */
function labelOf({ metadata: { name } }: Maker): string {
  return name.length <= 63 ? name : `${name.slice(0, 50).replace(/[^a-z0-9]+$/, '')}-${digestOfJson(name).slice(7, 19)}`
}

function ownerOf({ kind, metadata }: Maker): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
  }
}

/** The GitRepo, HelmOp or Bundle of Fleet that an object was made for. */
export function makerOf({ metadata }: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  return (metadata.ownerReferences ?? []).find(
    ({ apiVersion, kind }) => apiVersion.startsWith(`${FLEET_GROUP}/`) && MAKERS.includes(kind),
  )
}

const MAKERS: readonly string[] = [GitRepo.kind, HelmOp.kind, FleetBundle.kind]

/** Whether an object was made for this GitRepo or HelmOp, and not for an earlier one of the same name. */
export function isOwnedBy(object: KubeObject, maker: Pick<KubeObject, 'metadata'>): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ uid }) => uid === maker.metadata.uid)
}
