/** Built-in plugins, when their configuration is a file of its own. Programs and containers are refused by name. */
import { compact } from '../../core/compact.ts'
import { decode, flag, int, listOf, mapOf, struct, text } from './decode.ts'
import type { FieldSpec } from './transform/field-spec.ts'
import { generate } from './resources/generate.ts'
import { addHashes } from './transform/hash-names.ts'
import type { HelmInflation } from './helm-charts.ts'
import {
  configMapShape,
  fieldSpecShape,
  generatorArgsOf,
  imageShape,
  replacementFieldShape,
  replicaShape,
  secretShape,
  selectorShape,
} from './kustomization.ts'
import type { FieldSpecInput, HelmChart, ImageChange, Patch, Replacement, Selector } from './kustomization.ts'
import { KustomizeError, inContext, wrapError } from './kustomize-error.ts'
import type { Loader } from './loader.ts'
import { affixTransformer, entriesTransformer, namespaceTransformer } from './transform/metadata-transformers.ts'
import type { SubjectMode } from './transform/metadata-transformers.ts'
import { json6902Transformer, mergePatchTransformer, patchTransformer } from './patch/patches.ts'
import { readResources } from './resources/read-resources.ts'
import { replacementTransformer } from './transform/replacements.ts'
import type { Resource } from './resources/resource.ts'
import { ResourceMap } from './resources/resource-map.ts'
import { gvkText, idText } from './resources/resource-id.ts'
import type { Transformer, TransformerPorts } from './transform/transformer.ts'
import { fieldSpecOf } from './transform/transformer-config.ts'
import { imageTransformer, replicaTransformer, valueAddTransformer } from './transform/workload-transformers.ts'
import type { ValueTarget } from './transform/workload-transformers.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'

/** What a plugin may use. */
export interface PluginPorts extends TransformerPorts {
  readonly inflate: (chart: HelmInflation, loader: Loader) => ResourceMap
}

/** A generator, configured by a file. */
export function loadGenerator(plugin: Resource, ports: PluginPorts): () => ResourceMap {
  inContext('failed to load generator', () => checkBuiltIn(plugin))
  try {
    const generator = generatorOf(plugin, ports)
    if (generator) return generator
  } catch (caught) {
    throw wrapError(caught, `failed to load generator: plugin ${idText(plugin.originalId)} fails configuration`)
  }
  if (TRANSFORMERS.has(plugin.kind)) {
    throw new KustomizeError(`failed to load generator: plugin ${idText(plugin.originalId)} not a generator`)
  }
  throw new KustomizeError(`failed to load generator: unable to load builtin ${gvkText(plugin.gvk)}`)
}

/** A transformer, configured by a file. */
export function loadTransformer(plugin: Resource, ports: PluginPorts): Transformer {
  checkBuiltIn(plugin)
  const make = TRANSFORMERS.get(plugin.kind)
  if (!make) {
    if (GENERATORS.has(plugin.kind)) throw new KustomizeError(`plugin ${idText(plugin.originalId)} not a transformer`)
    throw new KustomizeError(`unable to load builtin ${gvkText(plugin.gvk)}`)
  }
  const shown = plugin.toYaml()
  try {
    return make(read(shown, pluginShape) as PluginFields, ports, shown)
  } catch (caught) {
    throw wrapError(caught, `plugin ${idText(plugin.originalId)} fails configuration`)
  }
}

function checkBuiltIn(plugin: Resource): void {
  const { group, version, kind } = plugin.gvk
  if (group === '' && version === 'builtin') return
  throw new KustomizeError(`external plugins disabled; unable to load external plugin '${kind}'`)
}

function read(shown: string, shape: Parameters<typeof decode>[1]): unknown {
  const { value } = readFirstYaml(shown, { resolver: '1.1', duplicateKeys: 'last' })
  return decode(value, shape, false) ?? {}
}

interface PluginFields {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly fieldSpecs?: readonly FieldSpecInput[]
  readonly path?: string
  readonly patch?: string
  readonly target?: Selector
  readonly options?: Patch['options']
  readonly paths?: readonly string[]
  readonly patches?: string
  readonly jsonOp?: string
  readonly unsetOnly?: boolean
  readonly setRoleBindingSubjects?: string
  readonly prefix?: string
  readonly suffix?: string
  readonly labels?: ReadonlyMap<string, string>
  readonly annotations?: ReadonlyMap<string, string>
  readonly imageTag?: ImageChange
  readonly replica?: { readonly name?: string; readonly count?: number | bigint }
  readonly replacements?: readonly Replacement[]
  readonly value?: string
  readonly targets?: readonly ValueTarget[]
  readonly targetFilePath?: string
}

const metadataShape = struct('ObjectMeta', { name: text, namespace: text })
const targetsShape = listOf(
  struct('Target', { selector: selectorShape, fieldPath: text, filePathPosition: int }, 'builtins.Target'),
)
const pluginShape = struct('Plugin', {
  metadata: metadataShape,
  fieldSpecs: listOf(fieldSpecShape),
  path: text,
  patch: text,
  target: selectorShape,
  options: struct('PatchArgs', { allowNameChange: flag, allowKindChange: flag }),
  paths: listOf(text),
  patches: text,
  jsonOp: text,
  unsetOnly: flag,
  setRoleBindingSubjects: text,
  prefix: text,
  suffix: text,
  labels: mapOf(text),
  annotations: mapOf(text),
  imageTag: imageShape,
  replica: replicaShape,
  replacements: listOf(replacementFieldShape),
  value: text,
  targets: targetsShape,
  targetFilePath: text,
})

function specsOf(fields: PluginFields): FieldSpec[] {
  return (fields.fieldSpecs ?? []).map(fieldSpecOf)
}

function neededSpecs(fields: PluginFields): FieldSpec[] {
  if (!fields.fieldSpecs) throw new KustomizeError('fieldSpecs is not expected to be nil')
  return specsOf(fields)
}

const SUBJECT_MODES = ['', 'defaultOnly', 'none', 'allServiceAccounts']

type Maker = (fields: PluginFields, ports: PluginPorts, shown: string) => Transformer

const prefix: Maker = (fields) => affixTransformer('prefix', fields.prefix ?? '', neededSpecs(fields))
const suffix: Maker = (fields) => affixTransformer('suffix', fields.suffix ?? '', neededSpecs(fields))

const TRANSFORMERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['AnnotationsTransformer', (fields) => entriesTransformer(fields.annotations ?? new Map(), specsOf(fields))],
  ['HashTransformer', () => (map) => addHashes(map.resources)],
  ['ImageTagTransformer', (fields) => imageTransformer(fields.imageTag ?? {}, specsOf(fields))],
  ['LabelTransformer', (fields) => entriesTransformer(fields.labels ?? new Map(), specsOf(fields))],
  ['NamespaceTransformer', namespaceMaker],
  [
    'PatchJson6902Transformer',
    ({ target, path, jsonOp }, ports) =>
      json6902Transformer(compact({ target, path: path || undefined, patch: jsonOp || undefined }), ports),
  ],
  [
    'PatchStrategicMergeTransformer',
    (fields, ports) => mergePatchTransformer(fields.paths ?? [], fields.patches ?? '', ports),
  ],
  ['PatchTransformer', (fields, ports, shown) => patchTransformer(fields, ports, shown)],
  ['PrefixTransformer', prefix],
  [
    'PrefixSuffixTransformer',
    (fields, ports, shown) => {
      const [first, second] = [prefix(fields, ports, shown), suffix(fields, ports, shown)]
      return (map) => {
        first(map)
        second(map)
      }
    },
  ],
  ['ReplacementTransformer', (fields, ports) => replacementTransformer(fields.replacements ?? [], ports.loader)],
  ['ReplicaCountTransformer', (fields) => replicaTransformer(fields.replica ?? {}, specsOf(fields))],
  ['SuffixTransformer', suffix],
  ['ValueAddTransformer', valueAddMaker],
])

function namespaceMaker(fields: PluginFields): Transformer {
  const subjects = fields.setRoleBindingSubjects ?? ''
  if (!SUBJECT_MODES.includes(subjects)) {
    throw new KustomizeError(
      `invalid value "${subjects}" for setRoleBindingSubjects: must be one of "defaultOnly", "none" or "allServiceAccounts"`,
    )
  }
  return namespaceTransformer({
    namespace: fields.metadata?.namespace ?? '',
    specs: specsOf(fields),
    unsetOnly: fields.unsetOnly ?? false,
    subjects: subjects as SubjectMode,
  })
}

function valueAddMaker(fields: PluginFields, { loader }: PluginPorts): Transformer {
  const value = (fields.value ?? '').trim() || loader.root.slice(loader.root.lastIndexOf('/') + 1)
  const targets = [...(fields.targets ?? [])]
  if (fields.targetFilePath) {
    const { value: file } = readFirstYaml(loader.load(fields.targetFilePath), { duplicateKeys: 'last' })
    const more = decode(file, struct('', { targets: targetsShape }), false) as { targets?: ValueTarget[] } | undefined
    targets.push(...(more?.targets ?? []))
  }
  if (targets.length === 0) throw new KustomizeError('must specify at least one target')
  for (const { fieldPath, filePathPosition = 0 } of targets) {
    if (!fieldPath) throw new KustomizeError('fieldPath cannot be empty')
    if (filePathPosition < 0) {
      throw new KustomizeError(`value of FilePathPosition (${filePathPosition}) cannot be negative`)
    }
  }
  return valueAddTransformer(value, targets)
}

const GENERATORS = new Set([
  'ConfigMapGenerator',
  'SecretGenerator',
  'IAMPolicyGenerator',
  'HelmChartInflationGenerator',
])

const iamShape = struct('IAMPolicyGeneratorArgs', {
  cloud: text,
  kubernetesService: struct('KubernetesService', { name: text, namespace: text }),
  serviceAccount: struct('ServiceAccount', { name: text, projectId: text }),
})

function generatorOf(plugin: Resource, ports: PluginPorts): (() => ResourceMap) | undefined {
  const shown = plugin.toYaml()
  const { loader } = ports
  switch (plugin.kind) {
    case 'ConfigMapGenerator':
    case 'SecretGenerator': {
      const isSecret = plugin.kind === 'SecretGenerator'
      const raw = read(shown, isSecret ? secretShape : configMapShape) as Parameters<typeof generatorArgsOf>[0]
      const args = generatorArgsOf(raw)
      const named = { ...args, name: args.name || plugin.name, namespace: args.namespace || plugin.namespace }
      // Here the old spelling is not known.
      const own = { ...named, envs: raw.envs ?? [] }
      return () => ResourceMap.of([generate(isSecret ? 'Secret' : 'ConfigMap', own, loader)])
    }
    case 'IAMPolicyGenerator':
      return iamPolicy(read(shown, iamShape) as IamFields)
    case 'HelmChartInflationGenerator': {
      const { value } = readFirstYaml(shown, { duplicateKeys: 'last' })
      return () => ports.inflate(value as HelmChart & { chartHome?: string }, loader)
    }
    default:
      return undefined
  }
}

interface IamFields {
  readonly cloud?: string
  readonly kubernetesService?: { readonly name?: string; readonly namespace?: string }
  readonly serviceAccount?: { readonly name?: string; readonly projectId?: string }
}

function iamPolicy({ cloud = '', kubernetesService = {}, serviceAccount = {} }: IamFields): () => ResourceMap {
  return () => {
    if (cloud !== 'gke') throw new KustomizeError(`cloud provider ${cloud} not supported yet`)
    const account = `${serviceAccount.name ?? ''}@${serviceAccount.projectId ?? ''}.iam.gserviceaccount.com`
    const namespace = kubernetesService.namespace ? `\n  namespace: ${kubernetesService.namespace}` : ''
    const yaml = `apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    iam.gke.io/gcp-service-account: ${account}\n  name: ${kubernetesService.name ?? ''}${namespace}\n`
    return ResourceMap.of(readResources(yaml))
  }
}
