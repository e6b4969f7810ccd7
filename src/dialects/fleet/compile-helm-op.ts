/** Compiles a HelmOp: a chart without a repository is a Bundle of its own, whose targets are customizations, too. */
import { isObject } from '../../core/json.ts'
import { readFields } from '../read-fields.ts'
import type { Finding } from '../read-fields.ts'
import { HELM_OP } from './fields.ts'
import type { FleetCustomization, FleetYaml } from './files/fleet-yaml.ts'
import type { HelmOp } from './kinds.ts'
import { compileBundle } from './compile/compile-bundle.ts'
import type { BundleCompileContext, CompiledBundle } from './compile/compile-bundle.ts'

type HelmOpSpec = Omit<FleetYaml, 'customizations' | 'allMatches'> & {
  readonly targets?: readonly FleetCustomization[]
}

/** The Bundle of a HelmOp; undefined when it has errors, which the findings say. */
export function compileHelmOp(
  { metadata, spec }: Pick<HelmOp, 'metadata' | 'spec'>,
  workspace: BundleCompileContext['workspace'],
  findings: Finding[],
): CompiledBundle | undefined {
  const { name, namespace = 'fleet-default', labels = {} } = metadata
  const report = (level: Finding['level'], _path: unknown, message: string): void =>
    void findings.push({ level, message: `spec.${message}` })
  const read = readFields(isObject(spec) ? spec : {}, HELM_OP, { system: 'Fleet', report }) as unknown as HelmOpSpec
  if (findings.some(({ level }) => level === 'error')) return undefined
  const { targets = [], ...rest } = read
  const yaml: FleetYaml = {
    ...rest,
    allMatches: false,
    customizations: targets.map((one, at) => ({ ...one, name: one.name ?? `target${String(at).padStart(3, '0')}` })),
  }
  const own: Finding[] = []
  const scene = { gitRepo: { namespace, name, labels }, options: { targets }, workspace, findings: own }
  const compiled = compileBundle({ name, path: '', files: [], ignored: [] }, yaml, { ...scene, file: () => undefined })
  findings.push(...own.map(({ level, message }) => ({ level, message: `spec: ${message}` })))
  const [chart] = compiled?.charts ?? []
  if (!chart) {
    if (!own.some(({ level }) => level === 'error'))
      report('error', [], 'helm.chart must be a chart of helm.repo, oci://…, or https://….tgz')
    return undefined
  }
  const include = compiled!.charts.map(({ source, at }) => ({ source, at }))
  return {
    ...compiled!,
    spec: { ...compiled!.spec, source: { name: chart.source, include } },
  }
}
