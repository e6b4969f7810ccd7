/** Reads fleet.yaml as Fleet does: YAML 1.1, the first document, names in any case. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { LabelSelector } from '../../../core/text/label-selector.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { FLEET_YAML } from '../fields.ts'
import { readFields } from '../../read-fields.ts'
import type { Finding, Report } from '../../read-fields.ts'

/** The criteria of a target: all must match, and a target without criteria selects no cluster. */
export interface FleetTarget {
  readonly name?: string
  readonly clusterName?: string
  readonly clusterSelector?: LabelSelector
  readonly clusterGroup?: string
  readonly clusterGroupSelector?: LabelSelector
}

/** A key of an object in the cluster. */
export interface FleetKeyRef {
  readonly name?: string
  readonly namespace?: string
  readonly key?: string
}

/** The `helm` block. */
export interface FleetHelm {
  readonly chart?: string
  readonly repo?: string
  readonly version?: string
  readonly releaseName?: string
  readonly values?: JsonObject
  readonly valuesFiles?: readonly string[]
  readonly templateValues?: Readonly<Record<string, string>>
  readonly valuesFrom?: readonly {
    readonly configMapKeyRef?: FleetKeyRef
    readonly secretKeyRef?: FleetKeyRef
  }[]
  readonly timeoutSeconds?: number
  readonly force?: boolean
  readonly takeOwnership?: boolean
  readonly disablePreProcess?: boolean
}

/** The settings of fleet.yaml for all clusters, and of a customization for some clusters. */
export interface FleetOptions {
  readonly defaultNamespace?: string
  readonly namespace?: string
  readonly namespaceLabels?: Readonly<Record<string, string>>
  readonly namespaceAnnotations?: Readonly<Record<string, string>>
  readonly serviceAccount?: string
  readonly createNamespace?: boolean
  readonly helm?: FleetHelm
  readonly kustomize?: { readonly dir?: string }
  readonly yaml?: { readonly overlays?: readonly string[] }
  readonly keepResources?: boolean
  readonly deleteNamespace?: boolean
  readonly deleteCRDResources?: boolean
  readonly correctDrift?: { readonly enabled?: boolean; readonly force?: boolean }
  readonly diff?: { readonly comparePatches?: readonly ComparePatch[] }
  readonly ignore?: { readonly conditions?: readonly JsonObject[] }
}

/** An entry of `diff.comparePatches`. */
export interface ComparePatch {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly jsonPointers?: readonly string[]
  readonly operations?: readonly { readonly op?: string; readonly path?: string }[]
}

/** Options for some clusters. */
export interface FleetCustomization extends FleetTarget, FleetOptions {
  readonly doNotDeploy?: boolean
}

/** `rolloutStrategy`. */
export interface FleetRollout {
  readonly maxUnavailable?: number | string
  readonly maxUnavailablePartitions?: number | string
  readonly autoPartitionSize?: number | string
  readonly autoPartitionThreshold?: number
  readonly partitions?: readonly (FleetTarget & { readonly maxUnavailable?: number | string })[]
}

/** A fleet.yaml; refused fields and fields without effect were reported and may be present. */
export interface FleetYaml extends FleetOptions {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly paused?: boolean
  readonly dependsOn?: readonly {
    readonly name?: string
    readonly selector?: LabelSelector
    readonly acceptedStates?: readonly string[]
  }[]
  readonly rolloutStrategy?: FleetRollout
  /** `targets`, the old name, then `targetCustomizations`; each has a name. */
  readonly customizations: readonly (FleetCustomization & { readonly name: string })[]
  readonly allMatches: boolean
  readonly overrideTargets?: readonly FleetTarget[]
}

const STATES = ['Ready', 'NotReady', 'Pending', 'OutOfSync', 'Modified', 'WaitApplied', 'ErrApplied']
// The largest fleet.yaml: far larger than written settings, and still fast to read.
const LIMITS = { maxBytes: 1024 * 1024, maxDepth: 100, maxNodes: 200_000, maxAliases: 1000 }

/** Reads a fleet.yaml; undefined when it cannot be parsed. */
export function readFleetYaml(text: string, file: string, findings: Finding[]): FleetYaml | undefined {
  const before = findings.length
  let document
  try {
    document = readFirstYaml(text, { file, resolver: '1.1', duplicateKeys: 'last', limits: LIMITS })
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    const message = caught.message.slice(caught.message.indexOf('line '))
    findings.push({ level: 'error', file, line: caught.position.line, message })
    return undefined
  }
  const { value } = document
  if (value !== null && value !== undefined && !isObject(value)) {
    findings.push({ level: 'error', file, message: 'a fleet.yaml is a map of fields' })
    return undefined
  }
  const report: Report = (level, path, message) =>
    void findings.push({ level, file, line: document.positionOf(path).line, message })
  const read = readFields(isObject(value) ? value : {}, FLEET_YAML, { system: 'Fleet', report }) as unknown as Omit<
    FleetYaml,
    'customizations' | 'allMatches'
  > & {
    readonly targets?: readonly FleetCustomization[]
    readonly targetCustomizations?: readonly FleetCustomization[]
    readonly targetCustomizationMode?: string
  }
  const { targets = [], targetCustomizations = [], targetCustomizationMode, ...rest } = read
  const customizations = [...targets, ...targetCustomizations]
  const made = withCustomizations(rest, { customizations, mode: targetCustomizationMode, report })
  return findings.slice(before).some(({ level }) => level === 'error') ? undefined : made
}

/** Settings with their customizations, each with a name; what is wrong is reported. */
export function withCustomizations(
  settings: Omit<FleetYaml, 'customizations' | 'allMatches'>,
  {
    customizations,
    mode = 'FirstMatch',
    report,
  }: {
    readonly customizations: readonly FleetCustomization[]
    readonly mode?: string | undefined
    readonly report: Report
  },
): FleetYaml {
  for (const [at, { name, selector, acceptedStates = [] }] of (settings.dependsOn ?? []).entries()) {
    const path = ['dependsOn', at]
    if (!name && !selector) report('error', path, `dependsOn[${at}] must have a name or a selector`)
    const odd = acceptedStates.find((state) => !STATES.includes(state))
    if (odd !== undefined) {
      report(
        'error',
        path,
        `dependsOn[${at}].acceptedStates: ${JSON.stringify(odd)} is no state; use ${STATES.join(', ')}`,
      )
    }
  }
  if (!['FirstMatch', 'AllMatches'].includes(mode)) {
    const message = `targetCustomizationMode must be FirstMatch or AllMatches, found ${JSON.stringify(mode)}`
    report('error', ['targetCustomizationMode'], message)
  }
  return {
    ...settings,
    allMatches: mode === 'AllMatches',
    customizations: customizations.map((one, at) => ({
      ...one,
      name: one.name ?? `target${String(at).padStart(3, '0')}`,
    })),
  }
}
