/**
 * The builder of policies with templates of the hub (`{{hub … hub}}`): each cluster gets its own checks, and clusters
 * whose names and labels were not read share them.
 */
import { fromUtf8 } from '../../../../core/bytes.ts'
import { isObject } from '../../../../core/json.ts'
import type { UnknownObject } from '../../../../kinds/meta.ts'
import type { Builder } from '../../../../render/bundle/builder.ts'
import { RenderFailure } from '../../../../render/bundle/render-failure.ts'
import { resolveHubTemplates } from '../../../../render/policy-template/hub-templates.ts'
import type { HubPolicyMetadata } from '../../../../render/policy-template/hub-templates.ts'
import { PolicyTemplateError } from '../../../../render/policy-template/resolve-template.ts'
import { hubObjects } from './hub-reads.ts'
import type { HubContent } from './hub-reads.ts'

/** The options of the builder. */
export interface PolicyBuilderOptions {
  /** The metadata of the Policy, which templates read. */
  readonly metadata: HubPolicyMetadata
  /** The ConfigMaps that templates may read. */
  readonly content?: HubContent
  /** Whether a ServiceAccount may read other namespaces than that of the Policy. */
  readonly hasAccount?: boolean
}

const NOTHING: HubContent = { configMaps: [], namespaces: [] }

/** Resolves the templates of the hub in each check. */
export const buildPolicy: Builder = ({ files, options, cluster }) => {
  const { metadata, content = NOTHING, hasAccount = false } = options as unknown as PolicyBuilderOptions
  if (!isObject(metadata)) throw new RenderFailure('spec.builder.options.metadata must be set')
  const objects = hubObjects(content, cluster)
  const text = fromUtf8(files.get('manifests') ?? new Uint8Array())
  const checks = text
    .split('---\n')
    .filter((part) => part.trim() !== '')
    .map((part): UnknownObject => {
      try {
        return resolveHubTemplates(JSON.parse(part), {
          cluster: cluster.map,
          metadata,
          objects,
          hasAccount,
        }) as unknown as UnknownObject
      } catch (caught) {
        if (caught instanceof PolicyTemplateError) throw new RenderFailure(caught.message)
        throw caught
      }
    })
  return { objects: checks, written: checks, notes: [] }
}
