/** The kinds of Flux, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import type { JsonObject } from '../../../../core/json.ts'
import type { DependentObject } from '../dependencies.ts'
import { countIn, listIn, mapIn, textIn } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import {
  distinct,
  generationOf,
  hasCondition,
  isObservedEverywhere,
  lastOf,
  mergeConditions,
  reference,
  reflectFields,
  retainSuspend,
  withStatus,
} from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'

/** Where a kind differs from the others. */
interface FluxKind {
  readonly reason: string
  readonly reflected: readonly string[]
  /** Texts of the status that are empty while no cluster has reported, and whose last value counts. */
  readonly texts: readonly string[]
  /** Counters of failures, which are added to those of the template. */
  readonly counters?: readonly string[]
  /** Members whose last value counts, although it is empty. */
  readonly parts?: readonly string[]
  readonly dependencies: (object: InterpretedObject) => readonly DependentObject[]
}

function fluxKind({ reason, reflected, texts, counters = [], parts = [], dependencies }: FluxKind): CustomKind {
  return {
    retain: retainSuspend,
    healthy: (object) => hasCondition(object, 'Ready', 'True', reason),
    status: (object) => reflectFields(object, [...reflected, 'conditions']),
    dependencies: (object) => distinct(dependencies(object)),
    aggregate: (object, items) => aggregate(object, items, { texts, counters, parts }),
  }
}

function aggregate(
  object: InterpretedObject,
  items: readonly StatusItem[],
  { texts, counters, parts }: Required<Pick<FluxKind, 'texts' | 'counters' | 'parts'>>,
): InterpretedObject {
  const old = mapIn(object['status'])
  if (items.length === 0) {
    const empty = [...texts.map((field) => [field, '']), ...counters.map((field) => [field, 0])]
    return withStatus(object, { ...old, ...Object.fromEntries(empty), observedGeneration: generationOf(object) })
  }
  const observedGeneration = isObservedEverywhere(object, items)
    ? generationOf(object)
    : countIn(old, 'observedGeneration')
  const status: JsonObject = {
    ...old,
    ...compact(Object.fromEntries(texts.map((field) => [field, lastOf(items, field) ?? old[field]]))),
    ...compact(Object.fromEntries(parts.map((field) => [field, lastOf(items, field)]))),
    ...summed(old, items, counters),
    conditions: mergeConditions(items),
    observedGeneration,
  }
  return withStatus(object, status)
}

function summed(old: JsonObject, items: readonly StatusItem[], counters: readonly string[]): JsonObject {
  const all = [old, ...items.map(({ status }) => status)]
  return Object.fromEntries(
    counters.flatMap((field) =>
      all.some((status) => mapIn(status)[field] !== undefined)
        ? [[field, all.reduce<number>((sum, status) => sum + countIn(status, field), 0)]]
        : [],
    ),
  )
}

const secret = (object: InterpretedObject, ...path: readonly string[]): DependentObject[] =>
  reference('Secret', object, textIn(object, 'spec', ...path, 'name'))
const account = (object: InterpretedObject): DependentObject[] =>
  reference('ServiceAccount', object, textIn(object, 'spec', 'serviceAccountName'))

/** Values of a release come from Secrets and ConfigMaps. */
function valuesOf(object: InterpretedObject): DependentObject[] {
  return listIn(object, 'spec', 'valuesFrom').flatMap((from) => {
    const kind = textIn(from, 'kind')
    return kind === 'Secret' || kind === 'ConfigMap' ? reference(kind, object, textIn(from, 'name')) : []
  })
}

const REVISIONS = ['lastAppliedRevision', 'lastAttemptedRevision']
const FAILURES = ['failures', 'installFailures', 'upgradeFailures']
const RELEASE = [...REVISIONS, 'helmChart', 'lastAttemptedValuesChecksum', 'lastReleaseRevision']
const SOURCE = ['artifact', 'observedGeneration', 'observedIgnore', 'url']

/** By apiVersion and kind. */
export const FLUX_KINDS: Readonly<Record<string, CustomKind>> = {
  'helm.toolkit.fluxcd.io/v2beta1 HelmRelease': fluxKind({
    reason: 'ReconciliationSucceeded',
    reflected: [...RELEASE, ...FAILURES, 'observedGeneration'],
    texts: RELEASE,
    counters: FAILURES,
    dependencies: (object) => [
      ...valuesOf(object),
      ...secret(object, 'chart', 'spec', 'verify', 'secretRef'),
      ...secret(object, 'kubeConfig', 'secretRef'),
      ...account(object),
    ],
  }),
  'kustomize.toolkit.fluxcd.io/v1 Kustomization': fluxKind({
    reason: 'ReconciliationSucceeded',
    reflected: [...REVISIONS, 'observedGeneration'],
    texts: REVISIONS,
    dependencies: (object) => [
      ...secret(object, 'decryption', 'secretRef'),
      ...secret(object, 'kubeConfig', 'secretRef'),
      ...account(object),
    ],
  }),
  'source.toolkit.fluxcd.io/v1 GitRepository': fluxKind({
    reason: 'Succeeded',
    reflected: [...SOURCE, 'includedArtifacts', 'observedInclude', 'observedRecurseSubmodules'],
    texts: [],
    parts: ['artifact'],
    dependencies: (object) => [...secret(object, 'secretRef'), ...secret(object, 'verify', 'secretRef')],
  }),
  'source.toolkit.fluxcd.io/v1beta2 Bucket': fluxKind({
    reason: 'Succeeded',
    reflected: SOURCE,
    texts: ['url'],
    parts: ['artifact'],
    dependencies: (object) => secret(object, 'secretRef'),
  }),
  'source.toolkit.fluxcd.io/v1beta2 HelmChart': fluxKind({
    reason: 'ChartPullSucceeded',
    reflected: ['artifact', 'observedChartName', 'observedSourceArtifactRevision', 'url'],
    texts: ['observedChartName', 'observedSourceArtifactRevision', 'url'],
    parts: ['artifact'],
    dependencies: (object) => secret(object, 'verify', 'secretRef'),
  }),
  'source.toolkit.fluxcd.io/v1beta2 HelmRepository': fluxKind({
    reason: 'Succeeded',
    reflected: SOURCE,
    texts: ['url'],
    parts: ['artifact'],
    dependencies: (object) => secret(object, 'secretRef'),
  }),
  'source.toolkit.fluxcd.io/v1beta2 OCIRepository': fluxKind({
    reason: 'Succeeded',
    reflected: SOURCE,
    texts: ['url'],
    parts: ['artifact'],
    dependencies: (object) => {
      // The interpreter of Karmada fails without this field.
      if (mapIn(object['spec'])['serviceAccountName'] === undefined) {
        throw new Error(
          `OCIRepository ${object.metadata?.name}: spec.serviceAccountName is required here, empty for none`,
        )
      }
      return [
        ...secret(object, 'secretRef'),
        ...secret(object, 'certSecretRef'),
        ...secret(object, 'verify', 'secretRef'),
        ...account(object),
      ]
    },
  }),
}
