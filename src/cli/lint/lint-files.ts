// Tested by src/cli/commands/preview/validate.test.ts.
/** Runs all checks over files and the objects of a hub. */
import { compact } from '../../core/compact.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { isObject } from '../../core/json.ts'
import { nearestName } from '../../core/text/nearest-name.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Source } from '../../kinds/native/source.ts'
import { finding } from '../../plan/lint/finding.ts'
import type { Finding } from '../../plan/lint/finding.ts'
import { customSchemasOf } from '../../plan/lint/custom-schemas.ts'
import type { CustomSchemas } from '../../plan/lint/custom-schemas.ts'
import { lintSource } from '../../plan/lint/lint-charts.ts'
import { lintContents } from '../../plan/lint/lint-objects.ts'
import { lintGuard, lintPlan, lintRollout } from '../../plan/lint/lint-safeguards.ts'
import { lintOverlap } from '../../plan/lint/lint-overlap.ts'
import { lintSelector, mayMeet } from '../../plan/lint/lint-selectors.ts'
import type { FieldPath } from '../../plan/objects/managed-fields.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { clusterInputsOf } from '../../plan/release/variants.ts'
import type { Builders } from '../../render/bundle/builder.ts'
import type { ReadInputData } from '../repository/bundle-recipe.ts'
import { keyOfObject, selectionOf, withObjects } from '../repository/fleet-facts.ts'
import type { FleetFacts } from '../repository/fleet-facts.ts'
import { isBelowPath } from './bundle-path.ts'
import { checkOwn, withPosition, readDefinitions } from './read-definitions.ts'
import type { Definition, NamedText, PlacedFinding } from './read-definitions.ts'
import { lintBuilds } from './lint-kustomizations.ts'
import { lintBundle } from './lint-bundle.ts'
import type { BundleContent } from './lint-bundle.ts'
import { projectFindings } from './project-findings.ts'
import { referenceFindings } from './reference-findings.ts'
import { ruleFindings, rulesWith } from './rule-findings.ts'
import type { KnownPolicies } from './rule-findings.ts'
import { clusterNamesIn, selectorsIn } from './cluster-selectors.ts'

export interface LintInput {
  /** Files that can hold objects. */
  readonly definitions: readonly NamedText[]
  /** The clone of the repository of the Sources. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Objects of the hub. Undefined without --hub. */
  readonly facts: FleetFacts
  readonly hasHub: boolean
  /** Git Sources of the hub (`namespace/name`) with this repository. Their Bundles are checked too. */
  readonly followed?: ReadonlySet<string>
  /** Bundles that a dialect compiles from the files, where no hub says which dialects it compiles. */
  readonly compiled?: readonly Bundle[]
  /** Policies of the hub. */
  readonly policies?: KnownPolicies | undefined
  /** Input data of Bundles on the hub. */
  readonly hubTexts?: (namespace: string) => ReadInputData
  /** Kubernetes version if no cluster is known. */
  readonly kubeVersion?: string | undefined
  /** The builders of dialects. */
  readonly builders?: Builders
}

/** The findings, and the numbers of checked objects. */
export interface LintReport {
  readonly findings: readonly PlacedFinding[]
  readonly checked: {
    readonly objects: number
    readonly bundles: number
    readonly clusters: number
    readonly contents: number
  }
}

/** Stands for an unknown cluster. */
const UNKNOWN_CLUSTER: ClusterInputs = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

export function lintFiles(input: LintInput): LintReport {
  const {
    definitions,
    files,
    facts: hub,
    hasHub,
    followed,
    compiled = [],
    kubeVersion,
    hubTexts = NO_TEXTS,
    builders = {},
  } = input
  const read = readDefinitions(definitions)
  const { objects, findings: own } = checkOwn(read.own)
  const facts = withObjects(
    hub,
    objects.map(({ object }) => object),
  )
  const custom = customSchemasOf(repositoryDefinitions(files, read.others))
  const scene: Scene = { files, facts, others: read.others, kubeVersion, hubTexts, custom, builders }
  const bundles = objects.filter(({ object }) => object.kind === 'Bundle')
  const defined = new Set(bundles.map(({ object }) => keyOfObject(object)))
  const live = hub.bundles.filter(
    (bundle) =>
      !defined.has(keyOfObject(bundle)) &&
      followed?.has(`${bundle.metadata.namespace ?? 'default'}/${bundle.spec.source?.name}`),
  )
  const contents = [
    ...bundles.map((definition) => contentOf(definition.object as unknown as Bundle, definition, scene)),
    ...[...live, ...compiled].map((bundle) => contentOf(bundle, undefined, scene)),
  ]
  const rendered = [...bundles.map(({ object }) => object as unknown as Bundle), ...compiled]
  const loose =
    contents.length === 0
      ? [
          ...looseFindings(read.others, scene),
          ...lintBuilds(
            definitions.map(({ name }) => name),
            files,
            UNKNOWN_CLUSTER,
          ),
        ]
      : []
  const findings = [
    ...read.findings.filter(({ file }) => !isInBundle(file ?? '', rendered)),
    ...own,
    ...objects.flatMap((definition) => selectorFindings(definition, facts)),
    ...objects.flatMap((definition) => sourceFindings(definition)),
    ...objects.flatMap((definition) => safeguardFindings(definition)),
    ...referenceFindings(objects, facts, hasHub),
    ...projectFindings(objects, contents, facts),
    ...ruleFindings(contents, {
      facts,
      rules: rulesWith(
        input.policies,
        read.others.map(({ object }) => object),
      ),
      bundleOf: (key) => [...facts.bundles, ...compiled].find((one) => keyOfObject(one) === key),
      unknown: compact({ ...UNKNOWN_CLUSTER, kubeVersion }),
    }),
    ...contents.flatMap(({ findings: found }) => found),
    ...overlapFindings(contents, facts),
    ...loose,
  ]
  return {
    findings: sorted(distinct(findings)),
    checked: {
      objects: objects.length,
      bundles: contents.length,
      clusters: facts.clusters.length,
      contents:
        contents.reduce((sum, { placed: each }) => sum + Math.max(0, ...each.map((one) => one.objects.length)), 0) +
        (contents.length === 0 ? read.others.length : 0),
    },
  }
}

interface Scene {
  readonly builders: Builders
  readonly files: LintInput['files']
  readonly facts: FleetFacts
  readonly others: readonly Definition[]
  readonly kubeVersion: string | undefined
  readonly hubTexts: (namespace: string) => ReadInputData
  /** The custom kinds that the repository defines. */
  readonly custom: CustomSchemas
}

/** The objects of files that define custom kinds. A repository can have them in another directory. */
function repositoryDefinitions(files: LintInput['files'], others: readonly Definition[]): UnknownObject[] {
  const decoder = new TextDecoder()
  const texts = [...files]
    .filter(
      ([name, bytes]) => /\.(ya?ml|json)$/.test(name) && decoder.decode(bytes).includes('CustomResourceDefinition'),
    )
    .map(([name, bytes]) => ({ name, bytes }))
  return [...readDefinitions(texts).others, ...others].map(({ object }) => object)
}

const NO_TEXTS = (): ReadInputData => () => undefined

/** The clusters of a Bundle. A placeholder if no cluster is known. */
function clustersOf(bundle: Bundle, { facts, kubeVersion }: Scene): readonly ClusterInputs[] {
  const placement = placementOf(bundle, facts)
  if (facts.clusters.length === 0 || !placement) {
    return [compact({ ...UNKNOWN_CLUSTER, kubeVersion })]
  }
  const { selected } = selectionOf(placement, facts)
  return facts.clusters.filter(({ metadata }) => selected.has(metadata.name)).map(clusterInputsOf)
}

function placementOf(bundle: Bundle, facts: FleetFacts) {
  const key = `${bundle.metadata.namespace ?? 'default'}/${bundle.spec.placement}`
  return facts.placements.find((placement) => keyOfObject(placement) === key)
}

function contentOf(bundle: Bundle, definition: Definition | undefined, scene: Scene): BundleContent {
  const { facts, files, others, hubTexts } = scene
  const source = facts.sources.find(
    (one) => keyOfObject(one) === `${bundle.metadata.namespace ?? 'default'}/${bundle.spec.source?.name}`,
  )
  return lintBundle({
    definition,
    bundle,
    source,
    files,
    others,
    facts,
    hubTexts,
    custom: scene.custom,
    clusters: clustersOf(bundle, scene),
    builders: scene.builders,
  })
}

// Files of a Bundle are checked by the renderer, with better messages.
function isInBundle(file: string, bundles: readonly Bundle[]): boolean {
  return bundles.some((bundle) => bundle.spec?.source !== undefined && isBelowPath(bundle, file))
}

/** Checks manifests that belong to no Bundle. */
function looseFindings(others: readonly Definition[], { facts, kubeVersion, custom }: Scene): PlacedFinding[] {
  const clusters =
    facts.clusters.length > 0
      ? facts.clusters.map(clusterInputsOf)
      : kubeVersion === undefined
        ? []
        : [{ name: `Kubernetes ${kubeVersion}`, kubeVersion }]
  return others.flatMap((definition) =>
    lintContents([{ objects: [definition.object], clusters }], custom).map(({ found }) =>
      withPosition(found, definition),
    ),
  )
}

/** Settings that let one mistake reach the whole fleet. */
function safeguardFindings(definition: Definition): PlacedFinding[] {
  const { object } = definition
  if (!isObject(object['spec'])) return []
  const found =
    object.kind === 'Bundle'
      ? lintRollout(object as unknown as Bundle)
      : object.kind === 'RolloutPlan'
        ? lintPlan(object as unknown as RolloutPlan)
        : object.kind === 'Placement'
          ? lintGuard(object as unknown as Placement)
          : []
  return found.map((one) => withPosition(one, definition))
}

function sourceFindings(definition: Definition): PlacedFinding[] {
  if (definition.object.kind !== 'Source') return []
  return lintSource(definition.object as unknown as Source).map((found) => withPosition(found, definition))
}

function selectorFindings(definition: Definition, facts: FleetFacts): PlacedFinding[] {
  const { object } = definition
  const who = whoOf(object)
  const all = facts.clusters
  const selected = () => {
    const placement = placementOf(object as unknown as Bundle, facts)
    if (!placement) return all
    const names = selectionOf(placement, facts).selected
    return all.filter(({ metadata }) => names.has(metadata.name))
  }
  const among = object.kind === 'Bundle' && isObject(object['spec']) ? selected() : all
  const found: Finding[] = selectorsIn(object).flatMap(({ place, selector }) =>
    lintSelector(
      { who, place, selector },
      among.map(({ metadata }) => metadata.labels ?? {}),
    ),
  )
  found.push(...clusterNamesIn(object).flatMap((name) => lintClusterName({ who, ...name }, all)))
  if (object.kind === 'Placement' && all.length > 0 && found.length === 0) {
    const answer = selectionOf(object as never, facts)
    if (answer.selected.size === 0) {
      const why = answer.misconfigured ?? stoppedText(answer.stopped)
      const message = `${who} selects none of ${all.length} clusters: ${why}`
      found.push(finding('unmatched-selector', message, { place: ['spec'] }))
    }
  }
  return found.map((one) => withPosition(one, definition))
}

/** A finding for the name of an unknown cluster. */
function lintClusterName(
  { who, place, name }: { readonly who: string; readonly place: FieldPath; readonly name: string },
  clusters: FleetFacts['clusters'],
): Finding[] {
  const names = clusters.map(({ metadata }) => metadata.name)
  if (names.length === 0 || names.includes(name)) return []
  const near = nearestName(name, names)
  const todo = near === undefined ? {} : { todo: `did you mean ${near}?` }
  return [
    finding('unmatched-selector', `${who} names cluster ${JSON.stringify(name)}, which does not exist`, {
      place,
      ...todo,
    }),
  ]
}

const STOPPED: Readonly<Record<string, string>> = {
  Leaving: 'are leaving',
  NotAccepted: 'are not accepted',
  SetDiffers: 'are in other sets',
  SelectorDiffers: 'have other labels',
  PredicatesDiffer: 'do not meet its predicates',
  Tainted: 'have taints it does not tolerate',
}

function stoppedText(stopped: Readonly<Record<string, number>>): string {
  const parts = Object.entries(stopped).flatMap(([why, count]) =>
    count > 0 ? [`${count} ${STOPPED[why] ?? why}`] : [],
  )
  return parts.length === 0 ? 'numberOfClusters is 0' : parts.join(', ')
}

function overlapFindings(contents: readonly BundleContent[], facts: FleetFacts): PlacedFinding[] {
  const selectorOf = (key: string): LabelSelector | undefined => {
    const bundle = facts.bundles.find((one) => keyOfObject(one) === key)
    return bundle && placementOf(bundle, facts)?.spec.clusterSelector
  }
  const placementKey = (key: string) => facts.bundles.find((one) => keyOfObject(one) === key)?.spec.placement
  const meet = (a: string, b: string): boolean => {
    if (a.split('/')[0] === b.split('/')[0] && placementKey(a) === placementKey(b)) return true
    const [first, second] = [selectorOf(a), selectorOf(b)]
    return first !== undefined && second !== undefined && mayMeet(first, second)
  }
  return lintOverlap(
    contents.flatMap((content) => content.placed),
    meet,
  ).map(({ bundle, object, ...found }) => {
    return contents.find((content) => content.bundle === bundle)!.locate(found, object)
  })
}

function whoOf({ apiVersion, kind, metadata }: UnknownObject): string {
  return describeObject({ ...metadata, apiVersion, kind })
}

function distinct(findings: readonly PlacedFinding[]): PlacedFinding[] {
  const byText = new Map(
    findings.map((one) => [`${one.check} ${one.file} ${one.line} ${one.column} ${one.message}`, one]),
  )
  return [...byText.values()]
}

function sorted(findings: readonly PlacedFinding[]): PlacedFinding[] {
  const key = ({ file = '', line = 0, column = 0 }: PlacedFinding) =>
    `${file}\0${String(line).padStart(8, '0')}\0${String(column).padStart(8, '0')}`
  return findings.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
