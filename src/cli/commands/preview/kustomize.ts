/** `flotilla kustomize build`: prints what `kustomize build` prints. */
import { statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { generateTraditionalKey, utf8 } from '../../../core/bytes.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { fromGoBytes } from '../../../render/gotemplate/go-string.ts'
import { checkReleaseName, checkRequirements } from '../../../render/helm/chart/check-chart.ts'
import { HelmError } from '../../../render/helm/helm-error.ts'
import { profileOf } from '../../../render/helm/profile.ts'
import { renderChart } from '../../../render/helm/render-chart.ts'
import { templateOutput } from '../../../render/helm/template-output.ts'
import { userValues } from '../../../render/helm/values/user-values.ts'
import { buildKustomization, buildText } from '../../../render/kustomize/build.ts'
import type { HelmRequest } from '../../../render/kustomize/helm-charts.ts'
import { KustomizeError } from '../../../render/kustomize/kustomize-error.ts'
import { isRepositoryUrl } from '../../../render/kustomize/loader.ts'
import type { Resource } from '../../../render/kustomize/resources/resource.ts'
import { NOT_A_NAMESPACE, effectiveNamespace } from '../../../render/kustomize/resources/resource-id.ts'
import { loadChartFrom, locateChart } from '../../template/locate-chart.ts'
import { diskTree } from '../../repository/disk-tree.ts'
import { EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `kustomize build`. */
export interface KustomizeFlags {
  readonly output?: string
  readonly enableHelm?: boolean
  readonly helmKubeVersion?: string
  readonly helmApiVersions?: readonly string[]
  readonly loadRestrictor?: string
  readonly reorder?: string
  readonly enableManagedbyLabel?: boolean
  readonly enableAlphaPlugins?: boolean
  readonly enableExec?: boolean
  readonly network?: boolean
  readonly mount?: readonly string[]
  readonly env?: readonly string[]
}

const RESTRICTORS = ['LoadRestrictionsRootOnly', 'LoadRestrictionsNone']

/** Builds a directory and prints the objects. The exit code is the one of kustomize. */
export function kustomizeBuild(directory: string, terminal: Terminal, flags: KustomizeFlags): ExitCode {
  try {
    checkFlags(directory, flags)
    const { resources } = buildKustomization(diskTree(), resolve(directory), {
      allowOutside: flags.loadRestrictor === 'LoadRestrictionsNone',
      order: flags.reorder === 'none' ? 'fifo' : 'legacy',
      managedByLabel: flags.enableManagedbyLabel ?? false,
      warn: (message) => terminal.say(message),
      ...(flags.enableHelm ? { renderHelm: (request) => renderHelm(request, flags, terminal) } : {}),
    })
    write(resources, terminal, flags.output)
    return EXIT.ok
  } catch (caught) {
    if (!(caught instanceof KustomizeError) && !(caught instanceof HelmError)) throw caught
    terminal.say(`error: ${caught.message}`)
    return EXIT.failed
  }
}

function checkFlags(directory: string, flags: KustomizeFlags): void {
  const { loadRestrictor = RESTRICTORS[0]!, reorder = 'legacy' } = flags
  if (!RESTRICTORS.includes(loadRestrictor)) {
    throw new KustomizeError(
      `illegal flag value --load-restrictor ${loadRestrictor}; legal values: [${RESTRICTORS.join(' ')}]`,
    )
  }
  if (reorder !== 'legacy' && reorder !== 'none') {
    throw new KustomizeError(`illegal flag value --reorder ${reorder}; legal values: [legacy none]`)
  }
  if (flags.enableAlphaPlugins || flags.enableExec) {
    throw new KustomizeError(
      'plugins that are programs or containers are not supported: use built-in plugins, or commit the output of the plugin',
    )
  }
  if (flags.network || flags.mount?.length || flags.env?.length) {
    throw new KustomizeError('--network, --mount and --env are for functions in containers, which are not run here')
  }
  if (isRepositoryUrl(directory)) {
    throw new KustomizeError(`'${directory}' is a remote address: clone the repository and build the directory`)
  }
}

function write(resources: readonly Resource[], terminal: Terminal, output: string | undefined): void {
  if (output === undefined || output === '') terminal.data(buildText(resources))
  else if (statSync(output, { throwIfNoEntry: false })?.isDirectory()) writeSeparately(resources, output)
  else writeFileSync(output, buildText(resources))
}

// A file for each object. The namespace is part of the name if there are several namespaces.
function writeSeparately(resources: readonly Resource[], directory: string): void {
  const namespaceOf = (resource: Resource): string => effectiveNamespace(resource.currentId)
  const namespaces = new Set(resources.map(namespaceOf).filter((namespace) => namespace !== NOT_A_NAMESPACE))
  for (const resource of resources) {
    const { group, version, kind } = resource.gvk
    const type = [group, version, kind].filter((part) => part !== '').join('_')
    const namespace = namespaceOf(resource)
    const prefix = namespaces.size > 1 && namespace !== NOT_A_NAMESPACE ? `${namespace}_` : ''
    const file = `${prefix}${type}_${resource.name}.yaml`.toLowerCase()
    // A name with a slash would lead out of the directory.
    if (basename(file) !== file || file.includes('\\') || file.includes('\0')) {
      throw new KustomizeError(`${kind} ${JSON.stringify(resource.name)}: the name cannot be part of a file name`)
    }
    writeFileSync(join(directory, file), buildText([resource]))
  }
}

function renderHelm(request: HelmRequest, flags: KustomizeFlags, terminal: Terminal): string {
  const profile = profileOf('helm4')
  const chart = loadChartFrom(locateChart(request.chartPath), profile)
  checkRequirements(chart, profile)
  checkReleaseName(request.releaseName, profile)
  const values = userValues(
    {
      files: request.values.map((text, i) => ({ name: `values-${i}.yaml`, data: utf8(text) })),
      json: [],
      set: [],
      setString: [],
      setFile: [],
      setLiteral: [],
      readFile: (path) => fromGoBytes(diskTree().read(path)),
    },
    profile,
  )
  const kubeVersion = flags.helmKubeVersion || request.kubeVersion
  const apiVersions = flags.helmApiVersions?.length ? flags.helmApiVersions : request.apiVersions
  const rendered = renderChart({
    chart,
    values,
    profile,
    release: { name: request.releaseName, namespace: request.namespace || 'default' },
    cluster: { ...(kubeVersion === '' ? {} : { kubeVersion }), apiVersions: [...apiVersions] },
    entropy: { randomBytes: systemIds.bytes, now: () => systemClock.now(), generateKey: generateTraditionalKey },
    warn: (message) => terminal.say(message),
  })
  const { includeCrds, skipTests, skipHooks } = request
  return templateOutput(rendered, { includeCrds, skipTests, noHooks: skipHooks })
}
