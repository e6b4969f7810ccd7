import { compact } from '../../core/compact.ts'
import type { Kind } from '../define-kind.ts'
import type { KubeObject } from '../meta.ts'

/** A CustomResourceDefinition, as far as this project writes one. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string
    scope: string
    names: {
      kind: string
      listKind: string
      plural: string
      singular: string
      shortNames?: readonly string[]
      categories?: readonly string[]
    }
    versions: readonly object[]
  }
}

/** The CustomResourceDefinition of a kind, as a kube-apiserver accepts it without a warning. */
export function toCrd(kind: Kind): CustomResourceDefinition {
  const { status, scale } = kind.subresources
  const served = {
    served: true,
    schema: { openAPIV3Schema: kind.schema },
    ...compact({
      subresources: status || scale ? compact({ status: status ? {} : undefined, scale }) : undefined,
      additionalPrinterColumns: kind.columns.length > 0 ? kind.columns : undefined,
    }),
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: kind.scope,
      names: compact({
        kind: kind.kind,
        listKind: kind.listKind,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames.length > 0 ? kind.shortNames : undefined,
        categories: kind.categories.length > 0 ? kind.categories : undefined,
      }),
      versions: [
        { name: kind.version, storage: true, ...served },
        ...(kind.olderVersions ?? []).map((name) => ({
          name,
          storage: false,
          deprecated: true,
          deprecationWarning: `${name} ${kind.kind} is deprecated, upgrade to ${kind.version}`,
          ...served,
        })),
      ],
    },
  }
}
