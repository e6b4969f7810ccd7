/** The transformers that the fields of a kustomization stand for, in their fixed order. */
import { compact } from '../../../core/compact.ts'
import { mergeFieldSpecs } from './field-spec.ts'
import type { FieldSpec } from './field-spec.ts'
import type { Kustomization, LabelRule } from '../kustomization.ts'
import { inContext } from '../kustomize-error.ts'
import { affixTransformer, entriesTransformer, namespaceTransformer } from './metadata-transformers.ts'
import { json6902Transformer, mergePatchTransformer, patchTransformer } from '../patch/patches.ts'
import { replacementTransformer } from './replacements.ts'
import { fieldSpecOf } from './transformer-config.ts'
import type { TransformerConfig } from './transformer-config.ts'
import type { Transformer, TransformerPorts } from './transformer.ts'
import { imageTransformer, replicaTransformer } from './workload-transformers.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'

/** A transformer and the name that messages and origins give it. */
export interface NamedTransformer {
  readonly kind: string
  readonly run: Transformer
}

/** All transformers of a kustomization. */
export function builtInTransformers(
  kustomization: Kustomization,
  config: TransformerConfig,
  ports: TransformerPorts,
): NamedTransformer[] {
  const { namespace, namePrefix, nameSuffix, commonAnnotations } = kustomization
  const result: NamedTransformer[] = []
  const add = (kind: string, settings: Record<string, unknown>, make: (shown: string) => Transformer): void => {
    const shown = writeYaml(settings)
    const run = inContext(
      () => `trouble configuring builtin ${kind} with config: \`\n${shown}\``,
      () => make(shown),
    )
    result.push({ kind, run })
  }
  const simple = (kind: string, run: Transformer): void => void result.push({ kind, run })
  const paths = kustomization.patchesStrategicMerge
  if (paths.length > 0) {
    add('PatchStrategicMergeTransformer', { paths }, () => mergePatchTransformer(paths, '', ports))
  }
  for (const { path, patch, target, options } of kustomization.patches) {
    const settings = filled({ options: filled(options), patch, path, target: filled(target) })
    add('PatchTransformer', settings, (shown) =>
      patchTransformer(
        compact({
          path: path || undefined,
          patch: patch || undefined,
          target,
          options,
        }),
        ports,
        shown,
      ),
    )
  }
  if (namespace !== '') simple('NamespaceTransformer', namespaceTransformer({ namespace, specs: config.namespace }))
  if (namePrefix !== '') simple('PrefixTransformer', affixTransformer('prefix', namePrefix, config.namePrefix))
  if (nameSuffix !== '') simple('SuffixTransformer', affixTransformer('suffix', nameSuffix, config.nameSuffix))
  addLabels(kustomization, config, simple)
  if (commonAnnotations.size > 0) {
    simple('AnnotationsTransformer', entriesTransformer(commonAnnotations, config.commonAnnotations))
  }
  for (const entry of kustomization.patchesJson6902) {
    const settings = filled({ jsonOp: entry.patch, path: entry.path, target: filled(entry.target) })
    add('PatchJson6902Transformer', settings, () => json6902Transformer(entry, ports))
  }
  for (const replica of kustomization.replicas)
    simple('ReplicaCountTransformer', replicaTransformer(replica, config.replicas))
  for (const image of kustomization.images) simple('ImageTagTransformer', imageTransformer(image, config.images))
  if (kustomization.replacements.length > 0) {
    const settings = { replacements: kustomization.replacements }
    add('ReplacementTransformer', settings, () => replacementTransformer(kustomization.replacements, ports.loader))
  }
  return result
}

function filled(fields: object | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields ?? {}).filter(([, value]) => value !== undefined && value !== '' && !isEmpty(value)),
  )
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function addLabels(
  { labels, commonLabels }: Kustomization,
  config: TransformerConfig,
  add: (kind: string, run: Transformer) => void,
): void {
  if (labels.length === 0 && commonLabels.size === 0) return
  for (const rule of labels) {
    const specs = inContext('failed to merge labels', () => labelSpecs(rule, config))
    add('LabelTransformer', entriesTransformer(rule.pairs ?? new Map(), specs))
  }
  add('LabelTransformer', entriesTransformer(commonLabels, config.commonLabels))
}

function labelSpecs(rule: LabelRule, config: TransformerConfig): FieldSpec[] {
  const specs = mergeFieldSpecs((rule.fields ?? []).map(fieldSpecOf), config.labels)
  if (rule.includeSelectors) return mergeFieldSpecs(specs, config.commonLabels)
  const more = [
    ...(rule.includeTemplates ? config.templateLabels : []),
    { group: '', version: '', kind: '', path: 'metadata/labels', create: true },
  ]
  return mergeFieldSpecs(specs, more)
}
