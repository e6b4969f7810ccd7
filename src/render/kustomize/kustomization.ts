/** The kustomization file: its fields, read as strictly and as leniently as kustomize reads them. */
import { compact } from '../../core/compact.ts'
import { anything, decode, flag, int, integer, listOf, mapOf, struct, text } from './decode.ts'
import type { FieldSpec } from './transform/field-spec.ts'
import { KustomizeError, wrapError } from './kustomize-error.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'

/** Options of generators. */
export interface GeneratorOptions {
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly disableNameSuffixHash: boolean
  readonly immutable: boolean
}

/** An entry of configMapGenerator or secretGenerator. */
export interface GeneratorArgs {
  readonly name: string
  readonly namespace: string
  readonly behavior: string
  readonly literals: readonly string[]
  readonly files: readonly string[]
  readonly envs: readonly string[]
  readonly options?: GeneratorOptions
  /** Of Secrets. */
  readonly type: string
}

/** Which objects a patch or a replacement is for; names are regular expressions. */
export interface Selector {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly annotationSelector?: string
  readonly labelSelector?: string
}

/** A patch: strategic merge or JSON 6902, in a file or in place. */
export interface Patch {
  readonly path?: string
  readonly patch?: string
  readonly target?: Selector
  readonly options?: { readonly allowNameChange?: boolean; readonly allowKindChange?: boolean }
}

/** A change of an image's name, tag or digest. */
export interface ImageChange {
  readonly name?: string
  readonly newName?: string
  readonly tagSuffix?: string
  readonly newTag?: string
  readonly digest?: string
}

/** Labels, and where they go. */
export interface LabelRule {
  readonly pairs?: ReadonlyMap<string, string>
  readonly includeSelectors?: boolean
  readonly includeTemplates?: boolean
  readonly fields?: readonly FieldSpecInput[]
}

/** A field spec as files write it. */
export type FieldSpecInput = Partial<FieldSpec>

/** How a replacement splits the values it reads and writes. */
export interface FieldOptions {
  readonly delimiter?: string
  readonly index?: number
  readonly encoding?: string
  readonly create?: boolean
}

/** A value copied from an object to further objects. */
export interface Replacement {
  readonly path?: string
  readonly source?: Selector & { readonly fieldPath?: string; readonly options?: FieldOptions }
  readonly sourceValue?: string
  readonly targets?: readonly {
    readonly select?: Selector
    readonly reject?: readonly Selector[]
    readonly fieldPaths?: readonly string[]
    readonly options?: FieldOptions
  }[]
}

/** A value for `$(NAME)`. */
export interface Var {
  readonly name?: string
  readonly objref?: Selector & { readonly apiVersion?: string }
  readonly fieldref?: { readonly fieldPath?: string }
}

/** A chart to render. */
export interface HelmChart {
  readonly name?: string
  readonly version?: string
  readonly repo?: string
  readonly releaseName?: string
  readonly namespace?: string
  readonly additionalValuesFiles?: readonly string[]
  readonly valuesFile?: string
  readonly valuesInline?: ReadonlyMap<string, unknown>
  readonly valuesMerge?: string
  readonly includeCRDs?: boolean
  readonly skipHooks?: boolean
  readonly apiVersions?: readonly string[]
  readonly kubeVersion?: string
  readonly nameTemplate?: string
  readonly skipTests?: boolean
  readonly debug?: boolean
  readonly devel?: boolean
}

/** The order of the output. */
export interface SortOptions {
  readonly order?: string
  readonly legacySortOptions?: { readonly orderFirst?: readonly string[]; readonly orderLast?: readonly string[] }
}

/** A kustomization or a component. */
export interface Kustomization {
  readonly kind: string
  readonly apiVersion: string
  readonly openapi: ReadonlyMap<string, string>
  readonly namePrefix: string
  readonly nameSuffix: string
  readonly namespace: string
  readonly commonLabels: ReadonlyMap<string, string>
  readonly labels: readonly LabelRule[]
  readonly commonAnnotations: ReadonlyMap<string, string>
  readonly patchesStrategicMerge: readonly string[]
  readonly patchesJson6902: readonly Patch[]
  readonly patches: readonly Patch[]
  readonly images: readonly ImageChange[]
  readonly replacements: readonly Replacement[]
  readonly replicas: readonly { readonly name?: string; readonly count?: number | bigint }[]
  readonly vars: readonly Var[]
  readonly sortOptions?: SortOptions
  readonly resources: readonly string[]
  readonly components: readonly string[]
  readonly crds: readonly string[]
  readonly configMapGenerator: readonly GeneratorArgs[]
  readonly secretGenerator: readonly GeneratorArgs[]
  readonly helmGlobals?: { readonly chartHome?: string; readonly configHome?: string }
  readonly helmCharts: readonly HelmChart[]
  readonly generatorOptions?: GeneratorOptions
  readonly configurations: readonly string[]
  readonly generators: readonly string[]
  readonly transformers: readonly string[]
  readonly validators: readonly string[]
  readonly buildMetadata: readonly string[]
  /** Sentences about fields that have better names now. */
  readonly warnings: readonly string[]
}

const strings = listOf(text)
const stringMap = mapOf(text)
const gvkFields = { group: text, version: text, kind: text }
const idFields = { ...gvkFields, name: text, namespace: text }
const generatorOptionsShape = struct('GeneratorOptions', {
  labels: stringMap,
  annotations: stringMap,
  disableNameSuffixHash: flag,
  immutable: flag,
})
const generatorFields = {
  namespace: text,
  name: text,
  behavior: text,
  literals: strings,
  files: strings,
  envs: strings,
  env: text,
  options: generatorOptionsShape,
}

/** A selector. */
export const selectorShape = struct('Selector', { ...idFields, annotationSelector: text, labelSelector: text })
const patchShape = struct('Patch', {
  path: text,
  patch: text,
  target: selectorShape,
  options: struct('PatchArgs', { allowNameChange: flag, allowKindChange: flag }),
})
/** An image change. */
export const imageShape = struct('Image', { name: text, newName: text, tagSuffix: text, newTag: text, digest: text })
/** A field spec. */
export const fieldSpecShape = struct('FieldSpec', { ...gvkFields, path: text, create: flag })
const fieldOptionsShape = struct('FieldOptions', { delimiter: text, index: int, encoding: text, create: flag })
const replacementFields = {
  source: struct('SourceSelector', { ...idFields, fieldPath: text, options: fieldOptionsShape }),
  targets: listOf(
    struct(
      'TargetSelector',
      { select: selectorShape, reject: listOf(selectorShape), fieldPaths: strings, options: fieldOptionsShape },
      '*types.TargetSelector',
    ),
  ),
  sourceValue: text,
}
/** A replacement, without the path of a file. */
export const replacementShape = struct('Replacement', replacementFields)
/** A replacement, or the path of a file with some. */
export const replacementFieldShape = struct('ReplacementField', { ...replacementFields, path: text })
/** A change of a replica count. */
export const replicaShape = struct('Replica', { name: text, count: integer })
const metadataShape = struct('ObjectMeta', { name: text, namespace: text, labels: stringMap, annotations: stringMap })
/** Arguments of a ConfigMap generator. */
export const configMapShape = struct('ConfigMapArgs', generatorFields)
/** Arguments of a Secret generator. */
export const secretShape = struct('SecretArgs', { ...generatorFields, type: text })
const helmChartShape = struct('HelmChart', {
  name: text,
  version: text,
  repo: text,
  releaseName: text,
  namespace: text,
  additionalValuesFiles: strings,
  valuesFile: text,
  valuesInline: mapOf(anything),
  valuesMerge: text,
  includeCRDs: flag,
  skipHooks: flag,
  apiVersions: strings,
  kubeVersion: text,
  nameTemplate: text,
  skipTests: flag,
  debug: flag,
  devel: flag,
})
const helmChartArgsShape = struct('HelmChartArgs', {
  chartName: text,
  chartVersion: text,
  chartRepoUrl: text,
  chartHome: text,
  chartRepoName: text,
  helmBin: text,
  helmHome: text,
  values: text,
  valuesLocal: mapOf(anything),
  valuesMerge: text,
  releaseName: text,
  releaseNamespace: text,
  extraArgs: strings,
})

const kustomizationFields = {
  kind: text,
  apiVersion: text,
  metadata: metadataShape,
  openapi: stringMap,
  namePrefix: text,
  nameSuffix: text,
  namespace: text,
  commonLabels: stringMap,
  labels: listOf(
    struct('Label', {
      pairs: stringMap,
      includeSelectors: flag,
      includeTemplates: flag,
      fields: listOf(fieldSpecShape),
    }),
  ),
  commonAnnotations: stringMap,
  patchesStrategicMerge: listOf({ type: 'string', goType: 'types.PatchStrategicMerge' }),
  patchesJson6902: listOf(patchShape),
  patches: listOf(patchShape),
  images: listOf(imageShape),
  imageTags: listOf(imageShape),
  replacements: listOf(replacementFieldShape),
  replicas: listOf(replicaShape),
  vars: listOf(
    struct('Var', {
      name: text,
      objref: struct('Target', { apiVersion: text, ...idFields }),
      fieldref: struct('FieldSelector', { fieldPath: text }),
    }),
  ),
  sortOptions: struct('SortOptions', {
    order: { type: 'string', goType: 'types.SortOrder' },
    legacySortOptions: struct('LegacySortOptions', { orderFirst: strings, orderLast: strings }),
  }),
  resources: strings,
  components: strings,
  crds: strings,
  bases: strings,
  configMapGenerator: listOf(configMapShape),
  secretGenerator: listOf(secretShape),
  helmGlobals: struct('HelmGlobals', { chartHome: text, configHome: text }),
  helmCharts: listOf(helmChartShape),
  helmChartInflationGenerator: listOf(helmChartArgsShape),
  generatorOptions: generatorOptionsShape,
  configurations: strings,
  generators: strings,
  transformers: strings,
  validators: strings,
  buildMetadata: strings,
}
const kustomizationShape = struct('Kustomization', kustomizationFields)

/** The fields of a kustomization file. */
export const KUSTOMIZATION_FIELDS: readonly string[] = Object.keys(kustomizationFields)

type Raw = Partial<Omit<Kustomization, 'configMapGenerator' | 'secretGenerator' | 'generatorOptions'>> & {
  readonly metadata?: unknown
  readonly bases?: readonly string[]
  readonly imageTags?: readonly ImageChange[]
  readonly configMapGenerator?: readonly RawGenerator[]
  readonly secretGenerator?: readonly RawGenerator[]
  readonly generatorOptions?: Partial<GeneratorOptions>
  readonly helmChartInflationGenerator?: readonly Record<string, unknown>[]
}

type RawGenerator = Partial<Omit<GeneratorArgs, 'options'>> & {
  readonly env?: string
  readonly options?: Partial<GeneratorOptions>
}

const NO_STRINGS: ReadonlyMap<string, string> = new Map()

/** Reads a kustomization file; `directory` is for the messages. */
export function readKustomization(content: string | Uint8Array, directory: string): Kustomization {
  let raw: Raw
  try {
    const { value } = readFirstYaml(content, { resolver: '1.1', duplicateKeys: 'last' })
    raw = decode(value, kustomizationShape) ?? {}
  } catch (caught) {
    throw wrapError(caught, 'invalid Kustomization')
  }
  const warnings = deprecations(raw)
  const { kind: _kind, apiVersion: _version, ...rest } = raw
  if (Object.entries(rest).every(([name, value]) => leavesNothing(name, value)))
    throw new KustomizeError('kustomization.yaml is empty')
  const kind = raw.kind || 'Kustomization'
  const wanted = kind === 'Component' ? 'kustomize.config.k8s.io/v1alpha1' : 'kustomize.config.k8s.io/v1beta1'
  const apiVersion = raw.apiVersion || wanted
  const problems = [
    ...(kind === 'Kustomization' || kind === 'Component' ? [] : ['kind should be Kustomization or Component']),
    ...(apiVersion === wanted ? [] : [`apiVersion for ${kind} should be ${wanted}`]),
  ]
  if (problems.length > 0) {
    throw new KustomizeError(`Failed to read kustomization file under ${directory}:\n${problems.join('\n')}`)
  }
  return complete(raw, { kind, apiVersion, warnings })
}

// An empty list counts as present, but not in the old spellings, which are moved to new fields.
function leavesNothing(name: string, value: unknown): boolean {
  const isOld = name === 'bases' || name === 'imageTags' || name === 'helmChartInflationGenerator'
  return value === '' || (isOld && Array.isArray(value) && value.length === 0)
}

function complete(raw: Raw, head: Pick<Kustomization, 'kind' | 'apiVersion' | 'warnings'>): Kustomization {
  const old = raw.helmChartInflationGenerator ?? []
  const options = raw.generatorOptions && generatorOptionsOf(raw.generatorOptions)
  const globals = raw.helmGlobals ?? oldGlobals(old)
  return {
    ...head,
    openapi: raw.openapi ?? NO_STRINGS,
    namePrefix: raw.namePrefix ?? '',
    nameSuffix: raw.nameSuffix ?? '',
    namespace: raw.namespace ?? '',
    commonLabels: raw.commonLabels ?? NO_STRINGS,
    labels: raw.labels ?? [],
    commonAnnotations: raw.commonAnnotations ?? NO_STRINGS,
    patchesStrategicMerge: raw.patchesStrategicMerge ?? [],
    patchesJson6902: raw.patchesJson6902 ?? [],
    patches: raw.patches ?? [],
    images: [...(raw.images ?? []), ...(raw.imageTags ?? [])],
    replacements: raw.replacements ?? [],
    replicas: raw.replicas ?? [],
    vars: raw.vars ?? [],
    ...compact({ sortOptions: raw.sortOptions }),
    resources: [...(raw.resources ?? []), ...(raw.bases ?? [])],
    components: raw.components ?? [],
    crds: raw.crds ?? [],
    configMapGenerator: (raw.configMapGenerator ?? []).map((args) => generatorArgsOf(args, options)),
    secretGenerator: (raw.secretGenerator ?? []).map((args) => generatorArgsOf(args, options)),
    ...compact({ helmGlobals: globals }),
    helmCharts: [...(raw.helmCharts ?? []), ...old.map(oldChart)],
    ...compact({ generatorOptions: options }),
    configurations: raw.configurations ?? [],
    generators: raw.generators ?? [],
    transformers: raw.transformers ?? [],
    validators: raw.validators ?? [],
    buildMetadata: raw.buildMetadata ?? [],
  }
}

/** Arguments with all defaults; options of the kustomization apply where the entry has none of its own. */
export function generatorArgsOf(raw: RawGenerator, defaults?: GeneratorOptions): GeneratorArgs {
  const own = raw.options && generatorOptionsOf(raw.options)
  const options = defaults ? mergeOptions(own, defaults) : own
  return compact({
    name: raw.name ?? '',
    namespace: raw.namespace ?? '',
    behavior: raw.behavior ?? '',
    literals: raw.literals ?? [],
    files: raw.files ?? [],
    envs: [...(raw.envs ?? []), ...(raw.env ? [raw.env] : [])],
    type: raw.type ?? '',
    options,
  })
}

function generatorOptionsOf(raw: Partial<GeneratorOptions>): GeneratorOptions {
  return {
    labels: raw.labels ?? NO_STRINGS,
    annotations: raw.annotations ?? NO_STRINGS,
    disableNameSuffixHash: raw.disableNameSuffixHash ?? false,
    immutable: raw.immutable ?? false,
  }
}

function mergeOptions(own: GeneratorOptions | undefined, defaults: GeneratorOptions): GeneratorOptions {
  if (!own) return defaults
  return {
    labels: new Map([...defaults.labels, ...own.labels]),
    annotations: new Map([...defaults.annotations, ...own.annotations]),
    disableNameSuffixHash: own.disableNameSuffixHash || defaults.disableNameSuffixHash,
    immutable: own.immutable || defaults.immutable,
  }
}

function oldChart(old: Record<string, unknown>): HelmChart {
  const renamed = {
    name: old['chartName'],
    version: old['chartVersion'],
    repo: old['chartRepoUrl'],
    valuesFile: old['values'],
    valuesInline: old['valuesLocal'],
    valuesMerge: old['valuesMerge'],
    releaseName: old['releaseName'],
  }
  return Object.fromEntries(Object.entries(renamed).filter(([, value]) => value !== undefined))
}

function oldGlobals(old: readonly Record<string, unknown>[]): Kustomization['helmGlobals'] {
  const last = (field: string): string | undefined => {
    const value = old.findLast((chart) => chart[field])?.[field]
    return typeof value === 'string' ? value : undefined
  }
  const [chartHome, configHome] = [last('chartHome'), last('helmHome')]
  if (!chartHome && !configHome) return undefined
  return compact({
    chartHome: chartHome || undefined,
    configHome: configHome || undefined,
  })
}

function deprecations(raw: Raw): string[] {
  const fix = "Run 'kustomize edit fix' to update your Kustomization automatically."
  const rows: [unknown, string, string, string][] = [
    [raw.bases, 'bases', 'resources', fix],
    [raw.commonLabels, 'commonLabels', 'labels', fix],
    [raw.imageTags, 'imageTags', 'images', fix],
    [raw.patchesJson6902, 'patchesJson6902', 'patches', fix],
    [raw.patchesStrategicMerge, 'patchesStrategicMerge', 'patches', fix],
    [raw.vars, 'vars', 'replacements', `[EXPERIMENTAL] ${fix}`],
  ]
  return rows
    .filter(([value]) => value !== undefined)
    .map(([, name, better, advice]) => `# Warning: '${name}' is deprecated. Please use '${better}' instead. ${advice}`)
}
