// Tested by src/cli/commands/fleet/fleet.contract.test.ts
/** Makes Bundles of Fleet from directories, as `fleet apply` does: each with its files, without a hub. */
import { base64, fromUtf8, gzip } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { subdomainProblems } from '../../../core/text/name-validation.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Finding } from '../../read-fields.ts'
import { valuesOf } from '../compile/layer.ts'
import type { GitRepoOptions } from '../compile/compile-bundle.ts'
import { readFleetYaml } from '../files/fleet-yaml.ts'
import type { FleetHelm, FleetOptions, FleetTarget, FleetYaml } from '../files/fleet-yaml.ts'
import { scanRepository } from '../files/scan.ts'
import type { ScannedBundle } from '../files/scan.ts'
import { FleetBundle } from '../kinds.ts'

/** What `fleet apply` was asked for. */
export interface ApplyRequest extends Omit<GitRepoOptions, 'targets'> {
  /** Name of all bundles together; the name of a bundle begins with it. */
  readonly name: string
  readonly namespace: string
  readonly paths: readonly string[]
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The settings of every directory, instead of its fleet.yaml. */
  readonly settings?: { readonly text: string; readonly file: string }
  readonly labels?: Readonly<Record<string, string>>
  readonly targets?: readonly FleetTarget[]
  readonly syncGeneration?: number
  /** Whether all files are compressed. */
  readonly compress?: boolean
}

/** A Bundle is written plain up to this size, and compressed above. */
const PLAIN_BYTES = 1_000_000
const NOTHING: FleetYaml = { customizations: [], allMatches: false }

/** The Bundles of directories, in the order of their paths; what is wrong is in the findings. */
export function applyDirectories(request: ApplyRequest): {
  readonly bundles: readonly FleetBundle[]
  readonly findings: readonly Finding[]
} {
  const findings: Finding[] = []
  const { files, name, paths, settings } = request
  const text = (path: string): string | undefined => textOf(files.get(path))
  const scanned = scanRepository({ paths: [...files.keys()].sort(), text }, { gitRepo: name, paths }, findings)
  const bundles = scanned.flatMap((directory) => {
    const { fleetYaml, path } = directory
    const file = settings?.file ?? fleetYaml
    const content = settings?.text ?? (fleetYaml === undefined ? undefined : text(fleetYaml))
    const yaml = file === undefined || content === undefined ? NOTHING : readFleetYaml(content, file, findings)
    // A directory with a fleet.yaml and nothing else is no bundle.
    if (!yaml || (directory.files.length === 0 && !yaml.helm?.chart)) return []
    const wrong = (message: string): void =>
      void findings.push({ level: 'error', file: file ?? (path || '.'), message })
    const bundle = bundleOf(directory, yaml, { request, wrong })
    const [problem] = subdomainProblems(bundle.metadata.name)
    if (problem !== undefined) wrong(`the bundle would be called ${JSON.stringify(bundle.metadata.name)}: ${problem}`)
    return [bundle]
  })
  const seen = new Set<string>()
  for (const { metadata } of bundles) {
    if (seen.has(metadata.name))
      findings.push({ level: 'error', message: `two directories would have the bundle ${metadata.name}` })
    seen.add(metadata.name)
  }
  return { bundles, findings }
}

interface Scene {
  readonly request: ApplyRequest
  wrong(message: string): void
}

function bundleOf(directory: ScannedBundle, yaml: FleetYaml, scene: Scene): FleetBundle {
  const { request } = scene
  const { name, labels, annotations, customizations, allMatches, overrideTargets, helm, ...options } = yaml
  const chosen = overrideTargets ?? request.targets
  const targets = (chosen ?? [{ name: 'default', clusterGroup: 'default' }]).map((one) =>
    request.targetNamespace ? { ...one, namespace: request.targetNamespace } : one,
  )
  const custom = customizations.map((one) => ({ ...one, ...helmOf(one, directory, scene) }))
  const drift = request.correctDrift?.enabled ? request.correctDrift : options.correctDrift
  const all = { ...labels, ...request.labels }
  return {
    apiVersion: apiVersionOf(FleetBundle),
    kind: FleetBundle.kind,
    metadata: compact({
      name: name ?? directory.name,
      namespace: request.namespace,
      labels: Object.keys(all).length === 0 ? undefined : all,
      annotations: annotations && { ...annotations },
    }),
    spec: compact({
      ...options,
      ...helmOf({ helm }, directory, scene),
      namespace: request.targetNamespace || options.namespace,
      serviceAccount: request.serviceAccount ?? options.serviceAccount,
      paused: request.paused || options.paused || undefined,
      keepResources: request.keepResources || options.keepResources || undefined,
      deleteNamespace: request.deleteNamespace || options.deleteNamespace || undefined,
      correctDrift: drift,
      forceSyncGeneration: request.syncGeneration || undefined,
      resources: resourcesOf(directory, request),
      targets: [...custom, ...targets],
      targetRestrictions: targets,
      targetCustomizationMode: allMatches ? 'AllMatches' : undefined,
    }),
  }
}

/** The `helm` block with the values of its files: the files themselves stay with the directory. */
function helmOf(
  { helm }: Pick<FleetOptions, 'helm'>,
  { path }: ScannedBundle,
  { request, wrong }: Scene,
): { readonly helm?: FleetHelm } {
  if (!helm) return {}
  const { valuesFiles: _files, values: _values, ...rest } = helm
  const values = valuesOf(helm, { path, file: (name) => request.files.get(name), wrong })
  return { helm: Object.keys(values).length === 0 ? rest : { ...rest, values } }
}

function resourcesOf({ path, files, ignored }: ScannedBundle, request: ApplyRequest) {
  const folder = path === '' ? '' : `${path}/`
  const nested = new Set(ignored)
  const wanted = files.filter((name) => !nested.has(name))
  const plain = wanted.map((name) => ({ name, bytes: request.files.get(`${folder}${name}`) ?? new Uint8Array() }))
  const isLarge = request.compress || plain.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) >= PLAIN_BYTES
  return plain.map(({ name, bytes }) => {
    const content = isLarge ? undefined : textOf(bytes)
    return content === undefined ? { name, content: base64(gzip(bytes)), encoding: 'base64+gz' } : { name, content }
  })
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  try {
    return bytes && fromUtf8(bytes)
  } catch {
    return undefined
  }
}
