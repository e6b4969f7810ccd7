/** A kustomization: its resources gathered, generated, and transformed in kustomize's order. */
import { compact } from '../../core/compact.ts'
import { ORIGIN } from './resources/build-annotations.ts'
import { generate } from './resources/generate.ts'
import { textIfUtf8 } from './resources/generated-data.ts'
import { inflateChart } from './helm-charts.ts'
import type { RenderHelm } from './helm-charts.ts'
import { readKustomization } from './kustomization.ts'
import type { Kustomization } from './kustomization.ts'
import { KustomizeError, inContext, messageOf, wrapError } from './kustomize-error.ts'
import type { Loader } from './loader.ts'
import { BUILT_IN_SCHEMAS, openApiSchemas } from './patch/merge-schema.ts'
import type { MergeSchemas } from './patch/merge-schema.ts'
import { entriesTransformer } from './transform/metadata-transformers.ts'
import { addOrigin, addTransformation, joined, originAt, originText, pluginOrigin } from './resources/origin.ts'
import type { Origin } from './resources/origin.ts'
import { withFileName } from './patch/patches.ts'
import { loadGenerator, loadTransformer } from './plugins.ts'
import { readResources } from './resources/read-resources.ts'
import { ResourceMap } from './resources/resource-map.ts'
import { EMPTY_CONFIG, loadConfig, loadCrdConfig, mergeConfigs } from './transform/transformer-config.ts'
import type { TransformerConfig } from './transform/transformer-config.ts'
import type { Transformer } from './transform/transformer.ts'
import { builtInTransformers } from './transform/built-in-transformers.ts'
import { addVars, mergeVars } from './transform/vars.ts'
import type { VarSet } from './transform/vars.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'

/** What all kustomizations of a build share. */
export interface BuildContext {
  schemas: MergeSchemas
  schemaIsSet: boolean
  readonly renderHelm: RenderHelm | undefined
  readonly isDirectory: (path: string) => boolean
  readonly warn: (message: string) => void
}

/** Objects, and the rules that were in force when they were gathered. */
export interface Accumulator {
  readonly map: ResourceMap
  config: TransformerConfig
  readonly vars: VarSet
}

/** Nothing yet. */
export function emptyAccumulator(): Accumulator {
  return { map: new ResourceMap(), config: EMPTY_CONFIG, vars: new Map() }
}

/** A kustomization that is being built. */
export interface Target {
  readonly loader: Loader
  readonly kustomization: Kustomization
  readonly fileName: string
  readonly scene: BuildContext
  /** Set when the build keeps track of origins. */
  readonly origin: Origin | undefined
  readonly helmNamespace: string
}

/** The names a kustomization file may have. */
export const FILE_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** Reads the kustomization file of a directory. */
export function loadKustomization(
  loader: Loader,
  scene: BuildContext,
): { kustomization: Kustomization; fileName: string } {
  const found: { name: string; content: Uint8Array }[] = []
  for (const name of FILE_NAMES) {
    try {
      found.push({ name, content: loader.load(name) })
    } catch {
      // another name may be there
    }
  }
  if (found.length > 1) throw new KustomizeError(`Found multiple kustomization files under: ${loader.root}\n`)
  const [file] = found
  if (!file) {
    throw new KustomizeError(
      `unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '${loader.root}'`,
    )
  }
  const kustomization = readKustomization(file.content, loader.root)
  for (const warning of kustomization.warnings) scene.warn(warning)
  return { kustomization, fileName: file.name }
}

/** Sets the schema of `openapi`; only the first schema of a build counts. */
export function setSchema({ loader, kustomization, scene }: Pick<Target, 'loader' | 'kustomization' | 'scene'>): void {
  const path = kustomization.openapi.get('path')
  const content = path === undefined ? undefined : loader.load(path)
  if (scene.schemaIsSet) return
  const version = kustomization.openapi.get('version') ?? ''
  if (content) {
    if (kustomization.openapi.has('version')) {
      throw new KustomizeError('builtin version and custom schema provided, cannot use both')
    }
    scene.schemas = openApiSchemas(readFirstYaml(content, { resolver: '1.1', duplicateKeys: 'last' }).value)
    scene.schemaIsSet = true
    return
  }
  if (version === '') return
  if (version !== 'v1.21.2') throw new KustomizeError('the specified OpenAPI version is not built in')
  scene.schemas = BUILT_IN_SCHEMAS
  scene.schemaIsSet = true
}

/** Gathers and transforms; a component works on what its parent has. */
export function accumulate(target: Target, start: Accumulator): Accumulator {
  const { kustomization, loader } = target
  let accumulator = inContext('accumulating resources', () =>
    accumulateResources(target, start, kustomization.resources),
  )
  accumulator.config = mergeConfigs(accumulator.config, loadConfig(loader, kustomization.configurations))
  const crds = inContext(`loading CRDs [${kustomization.crds.join(' ')}]`, () =>
    loadCrdConfig(loader, kustomization.crds),
  )
  accumulator.config = mergeConfigs(accumulator.config, crds)
  runGenerators(target, accumulator)
  accumulator = inContext('accumulating components', () => accumulateComponents(target, accumulator))
  runTransformers(target, accumulator)
  runValidators(target, accumulator)
  inContext('merging vars', () => addVars(accumulator.vars, kustomization.vars, accumulator.map))
  return accumulator
}

function accumulateResources(target: Target, start: Accumulator, paths: readonly string[]): Accumulator {
  let accumulator = start
  for (const path of paths) {
    try {
      accumulateFile(target, accumulator, path)
    } catch (fileProblem) {
      accumulator = accumulateBase(target, accumulator, path, fileProblem)
    }
  }
  return accumulator
}

function accumulateBase(target: Target, accumulator: Accumulator, path: string, fileProblem: unknown): Accumulator {
  const problem = messageOf(fileProblem)
  let loader: Loader
  try {
    loader = target.loader.enter(path)
  } catch (caught) {
    if (problem.includes('MalformedYAMLError')) throw fileProblem
    throw wrapError(caught, `accumulation err='${problem}'`)
  }
  return inContext(`accumulation err='${problem}'`, () =>
    accumulateDirectory(atPath(target, path), accumulator, loader, false),
  )
}

function atPath(target: Target, path: string): Target {
  return target.origin ? { ...target, origin: originAt(target.origin, path) } : target
}

function accumulateFile(target: Target, accumulator: Accumulator, path: string): void {
  const map = inContext(`accumulating resources from '${path}'`, () => readFile(target.loader, path))
  if (target.origin) {
    const specs = [{ group: '', version: '', kind: '', path: 'metadata/annotations', create: true }]
    entriesTransformer(new Map([[ORIGIN, originText(originAt(target.origin, path))]]), specs)(map)
  }
  inContext(`merging resources from '${path}'`, () => accumulator.map.appendAll(map))
}

function readFile(loader: Loader, path: string): ResourceMap {
  const content = loader.load(path)
  try {
    return ResourceMap.of(readResources(textIfUtf8(content) ?? new TextDecoder().decode(content)))
  } catch (caught) {
    throw withFileName(caught, path)
  }
}

function accumulateComponents(target: Target, start: Accumulator): Accumulator {
  let accumulator = start
  for (const path of target.kustomization.components) {
    let loader: Loader
    try {
      loader = target.loader.enter(path)
    } catch (caught) {
      throw new KustomizeError(`loader.New ${JSON.stringify(messageOf(caught))}`)
    }
    try {
      accumulator = accumulateDirectory(atPath(target, path), accumulator, loader, true)
    } catch (caught) {
      throw new KustomizeError(`accumulateDirectory: ${JSON.stringify(messageOf(caught))}`)
    }
  }
  return accumulator
}

function accumulateDirectory(
  parent: Target,
  accumulator: Accumulator,
  loader: Loader,
  isComponent: boolean,
): Accumulator {
  const { scene } = parent
  const { kustomization: own, fileName } = inContext(`couldn't make target for path '${loader.root}'`, () =>
    loadKustomization(loader, scene),
  )
  const kustomization = { ...own, buildMetadata: parent.kustomization.buildMetadata }
  const helmNamespace = parent.kustomization.namespace || parent.helmNamespace
  const target: Target = { loader, kustomization, fileName, scene, origin: parent.origin, helmNamespace }
  setSchema(target)
  if (isComponent !== (kustomization.kind === 'Component')) {
    throw new KustomizeError(
      isComponent
        ? `expected kind 'Component' for path '${loader.root}' but got '${kustomization.kind}'`
        : `expected kind != 'Component' for path '${loader.root}'`,
    )
  }
  const inner = inContext(`recursed accumulation of path '${loader.root}'`, () =>
    accumulate(target, isComponent ? accumulator : emptyAccumulator()),
  )
  const outer = isComponent ? emptyAccumulator() : accumulator
  inContext(`recursed merging from path '${loader.root}'`, () => {
    outer.map.appendAll(inner.map)
    outer.config = mergeConfigs(outer.config, inner.config)
    mergeVars(outer.vars, inner.vars.values())
  })
  return outer
}

function builtInOrigin(target: Target, kind: string): Origin | undefined {
  if (!target.origin) return undefined
  const configuredIn = joined(target.origin.path ?? '', target.fileName)
  return { configuredIn, configuredBy: { apiVersion: 'builtin', kind } }
}

function runGenerators(target: Target, accumulator: Accumulator): void {
  const { kustomization, loader, scene } = target
  const inflate = (chart: Parameters<typeof inflateChart>[0], from: Loader): ResourceMap =>
    inflateChart(chart, from, scene.renderHelm, scene.isDirectory)
  const made: { origin: Origin | undefined; make: () => ResourceMap }[] = [
    ...kustomization.configMapGenerator.map((args) => ({
      origin: builtInOrigin(target, 'ConfigMapGenerator'),
      make: () => ResourceMap.of([generate('ConfigMap', args, loader)]),
    })),
    ...kustomization.secretGenerator.map((args) => ({
      origin: builtInOrigin(target, 'SecretGenerator'),
      make: () => ResourceMap.of([generate('Secret', args, loader)]),
    })),
    ...kustomization.helmCharts.map((chart) => ({
      origin: builtInOrigin(target, 'HelmChartInflationGenerator'),
      make: () => {
        const namespace = chart.namespace || kustomization.namespace || target.helmNamespace
        return inflate({ ...kustomization.helmGlobals, ...chart, namespace }, loader)
      },
    })),
  ]
  const [chart] = kustomization.helmCharts
  if (chart && !scene.renderHelm) {
    const namespace = chart.namespace || kustomization.namespace || target.helmNamespace
    const shown = writeYaml({
      ...kustomization.helmGlobals,
      ...chart,
      ...compact({ namespace: namespace || undefined }),
    })
    throw new KustomizeError(
      `trouble configuring builtin HelmChartInflationGenerator with config: \`\n${shown}\`: must specify --enable-helm`,
    )
  }
  inContext('loading generator plugins', () => {
    for (const plugin of readPlugins(target, kustomization.generators)) {
      const make = loadGenerator(plugin, { loader, schemas: () => scene.schemas, inflate })
      made.push({ origin: pluginOrigin(plugin), make })
    }
  })
  for (const { origin, make } of made) {
    const map = make()
    if (origin) addOrigin(map.resources, origin)
    inContext('merging from generator', () => accumulator.map.absorb(map))
  }
}

// Plugin configurations: text in place, files, or whole kustomizations of them.
function readPlugins(target: Target, entries: readonly string[]): readonly ResourceMap['resources'][number][] {
  const paths: string[] = []
  const accumulator = emptyAccumulator()
  for (const entry of entries) {
    let map: ResourceMap
    try {
      map = ResourceMap.of(readResources(entry))
    } catch {
      paths.push(entry)
      continue
    }
    if (target.origin) {
      const origin = originText(originAt(target.origin, target.fileName))
      for (const resource of map.resources) resource.setAnnotations(resource.annotations.set(ORIGIN, origin))
    }
    accumulator.map.appendAll(map)
  }
  return accumulateResources(target, accumulator, paths).map.resources
}

function pluginTransformers(
  target: Target,
  entries: readonly string[],
): { run: Transformer; origin: Origin | undefined }[] {
  const { loader, scene } = target
  const inflate = (chart: Parameters<typeof inflateChart>[0], from: Loader): ResourceMap =>
    inflateChart(chart, from, scene.renderHelm, scene.isDirectory)
  return readPlugins(target, entries).map((plugin) => ({
    run: loadTransformer(plugin, { loader, schemas: () => scene.schemas, inflate }),
    origin: pluginOrigin(plugin),
  }))
}

function runTransformers(target: Target, accumulator: Accumulator): void {
  const { loader, scene } = target
  const ports = { loader, schemas: () => scene.schemas }
  const builtIn = builtInTransformers(target.kustomization, accumulator.config, ports)
  const all = [
    ...builtIn.map(({ kind, run }) => ({ run, origin: builtInOrigin(target, kind) })),
    ...pluginTransformers(target, target.kustomization.transformers),
  ]
  for (const { run, origin } of all) {
    run(accumulator.map)
    if (origin) addTransformation(accumulator.map.resources, origin)
    accumulator.map.dropEmpty()
  }
}

function runValidators(target: Target, accumulator: Accumulator): void {
  for (const { run } of pluginTransformers(target, target.kustomization.validators)) {
    const before = accumulator.map.resources.map((resource) => resource.toYaml())
    run(accumulator.map)
    const after = accumulator.map.resources.map((resource) => {
      const copy = resource.copy()
      const { labels } = copy
      if (labels.delete('validated-by')) copy.setLabels(labels)
      return copy.toYaml()
    })
    const changed = before.findIndex((text, i) => text !== after[i])
    if (changed >= 0 || before.length !== after.length) {
      throw new KustomizeError(
        `validator shouldn't modify the resource map: nodes unequal: \n -- ${before[changed] ?? ''},\n -- ${after[changed] ?? ''}\n`,
      )
    }
  }
}
