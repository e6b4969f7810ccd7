/** Compiles a ManifestWork to the objects and options of a Delivery. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { jsonPathsOfJq } from '../../jq-paths.ts'
import { isKeptKind } from '../../../plan/objects/object-options.ts'
import type { ManifestConfig, ManifestWork } from './kinds.ts'
import { manifestId, selectsManifest } from './resources.ts'
import type { ManifestId } from './resources.ts'
import { WELL_KNOWN_CONDITIONS, WELL_KNOWN_STATUS } from './well-known.ts'

/** What a ManifestWork becomes. */
export interface CompiledWork {
  readonly objects: readonly UnknownObject[]
  readonly ids: readonly ManifestId[]
  readonly options: BundleOptions
  /** Parts that have no effect. */
  readonly findings: readonly string[]
}

/** The objects and options, or the sentence that says why there are none. */
export type WorkCompilation =
  | { readonly ok: true; readonly work: CompiledWork }
  | { readonly ok: false; readonly problem: string }

export function compileWork({ spec }: Pick<ManifestWork, 'spec'>): WorkCompilation {
  const manifests = spec.workload?.manifests ?? []
  if (manifests.length === 0)
    return { ok: false, problem: 'spec.workload.manifests: Workload manifests should not be empty' }
  const objects: UnknownObject[] = []
  const ids: ManifestId[] = []
  const seen = new Set<string>()
  for (const [index, manifest] of manifests.entries()) {
    const at = `spec.workload.manifests[${index}]`
    const problem = manifestProblem(manifest)
    if (problem !== undefined) return { ok: false, problem: `${at}: ${problem}` }
    const object = withoutServerFields(manifest as unknown as UnknownObject)
    const id = manifestId(object)
    const key = `${id.group}/${id.version}/${id.kind}/${id.namespace}/${id.name}`
    if (seen.has(key)) {
      return {
        ok: false,
        problem: `${at}: duplicated manifest ${id.resource} ${id.namespace}/${id.name}; each object may be listed once`,
      }
    }
    seen.add(key)
    objects.push(object)
    ids.push(id)
  }
  const findings: string[] = []
  const options = optionsOf(spec, ids, findings)
  return { ok: true, work: { objects, ids, options, findings } }
}

function manifestProblem(manifest: JsonObject): string | undefined {
  const { apiVersion, kind, metadata } = manifest
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'apiVersion must be set'
  if (typeof kind !== 'string' || kind === '') return 'kind must be set'
  if (!isObject(metadata)) return 'metadata.name must be set in manifest'
  if (typeof metadata['name'] === 'string' && metadata['name'] !== '') return undefined
  return metadata['generateName'] === undefined
    ? 'name must be set in manifest'
    : 'name must be set in manifest instead of generateName'
}

/** A manifest that was exported from a cluster has fields that only an API server may write. */
function withoutServerFields(manifest: UnknownObject): UnknownObject {
  const { status: _status, metadata, ...rest } = manifest
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _created,
    managedFields: _managed,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}

interface Selector {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

function selectorOf({ group, kind, namespace, name }: ManifestId): Selector {
  return { group, kind, namespace, name }
}

function optionsOf(spec: ManifestWork['spec'], ids: readonly ManifestId[], findings: string[]): BundleOptions {
  const configs = spec.manifestConfigs ?? []
  /** The first configuration that selects a manifest and has the part. */
  const first = <K extends keyof ManifestConfig>(id: ManifestId, part: K): ManifestConfig[K] | undefined =>
    configs.find((config) => config[part] !== undefined && selectsManifest(config.resourceIdentifier, id))?.[part]
  const account = spec.executor?.subject.serviceAccount
  const strategies = ids.flatMap((id) => strategyOf(id, first(id, 'updateStrategy')))
  const ignore = ids.flatMap((id) => ignoredOf(id, first(id, 'updateStrategy'), findings))
  const feedback = ids.flatMap((id) => feedbackOf(id, first(id, 'feedbackRules')))
  const conditions = ids.flatMap((id) => conditionsOf(id, first(id, 'conditionRules'), findings))
  return {
    // Update overwrites what other writers set, as in Open Cluster Management.
    apply: compact({
      method: 'ServerSideApply',
      force: true,
      onError: 'Continue',
      objects: strategies.length > 0 ? strategies : undefined,
    }),
    delete: deletionOf(spec.deleteOption, ids),
    ...compact({
      ignore: ignore.length > 0 ? ignore : undefined,
      feedback: feedback.length > 0 ? feedback : undefined,
      conditions: conditions.length > 0 ? conditions : undefined,
      executor: account,
    }),
  }
}

type Strategy = ManifestConfig['updateStrategy']

function strategyOf(id: ManifestId, strategy: Strategy): NonNullable<NonNullable<BundleOptions['apply']>['objects']> {
  if (!strategy || strategy.type === 'Update') return []
  const method = strategy.type
  const force = method === 'ServerSideApply' ? { force: strategy.serverSideApply?.force ?? false } : {}
  return [{ ...selectorOf(id), method, ...force }]
}

function ignoredOf(id: ManifestId, strategy: Strategy, findings: string[]): NonNullable<BundleOptions['ignore']> {
  return (strategy?.serverSideApply?.ignoreFields ?? []).flatMap(
    ({ jsonPaths = [], jsonPointers, jqPathExpressions = [] }) => {
      const ofJq = jqPathExpressions.flatMap((expression) => {
        const read = jsonPathsOfJq(expression)
        if (!read) {
          findings.push(
            `the jqPathExpression ${JSON.stringify(expression)} of ${id.resource} ${id.name} has no effect, because it is more than a path; write jsonPaths or jsonPointers`,
          )
        }
        return read ?? []
      })
      const paths = [...jsonPaths, ...ofJq]
      if (paths.length === 0 && !jsonPointers?.length) return []
      const pointers = jsonPointers?.length ? jsonPointers : undefined
      return [{ ...selectorOf(id), ...compact({ paths: paths.length > 0 ? paths : undefined, pointers }) }]
    },
  )
}

function feedbackOf(id: ManifestId, rules: ManifestConfig['feedbackRules']): NonNullable<BundleOptions['feedback']> {
  return (rules ?? []).flatMap(({ type, jsonPaths = [] }) => {
    const paths = type === 'JSONPaths' ? jsonPaths.map(({ name, path }) => [name, path] as const) : wellKnown(id)
    return paths.map(([as, path]) => ({ ...selectorOf(id), as, path: path.startsWith('.') ? path : `.${path}` }))
  })
}

function wellKnown({ group, kind }: ManifestId): readonly (readonly [string, string])[] {
  return WELL_KNOWN_STATUS[`${group}/${kind}`] ?? []
}

function conditionsOf(
  id: ManifestId,
  rules: ManifestConfig['conditionRules'],
  findings: string[],
): NonNullable<BundleOptions['conditions']> {
  return (rules ?? []).flatMap(({ type, condition, celExpressions = [], message, messageExpression }) => {
    if (type === 'WellKnownConditions') {
      const known = WELL_KNOWN_CONDITIONS[`${id.group}/${id.kind}`]
      return known ? [{ ...selectorOf(id), type: 'Complete', ...known }] : []
    }
    if (!condition || celExpressions.length === 0) {
      findings.push(`a conditionRule of ${id.resource} ${id.name} has no condition or no celExpressions`)
      return []
    }
    return [
      {
        ...selectorOf(id),
        type: condition,
        expressions: celExpressions,
        ...compact({ message, messageExpression }),
      },
    ]
  })
}

function deletionOf(option: ManifestWork['spec']['deleteOption'], ids: readonly ManifestId[]): BundleOptions['delete'] {
  const policy = option?.propagationPolicy ?? 'Foreground'
  if (policy === 'Orphan') return { removed: 'Orphan', unplaced: 'Orphan', bundleDeleted: 'Orphan' }
  const rules = policy === 'SelectivelyOrphan' ? (option?.selectivelyOrphans?.orphaningRules ?? []) : []
  const orphan = ids.filter((id) => rules.some((rule) => selectsManifest(rule, id))).map(selectorOf)
  // The work lists these itself, so that they go with it as in Open Cluster Management.
  const named = ids.filter((id) => isKeptKind(objectIdOf(id))).map(selectorOf)
  return compact({ orphan: orphan.length > 0 ? orphan : undefined, named: named.length > 0 ? named : undefined })
}

function objectIdOf({ group, version, kind, name }: ManifestId) {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, name }
}
