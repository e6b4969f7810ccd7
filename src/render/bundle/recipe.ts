/** What a bundle is rendered from, as plain data: it travels to another thread, and its digest says whether anything changed. */
import type { Digest } from '../../core/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LabelSelector } from '../../core/selector.ts'

/** A change of one object after rendering: a JSON merge patch (null removes). */
export interface ObjectPatch {
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly patch: JsonObject
}

/** Images whose names begin with `from` are taken from `to`. */
export interface ImageRewrite {
  readonly from: string
  readonly to: string
}

/** What a layer may say; later layers win, values are merged, lists are added. */
export interface LayerOptions {
  readonly helm?:
    | {
        readonly chart?: string | undefined
        readonly releaseName?: string | undefined
        readonly values?: JsonObject | undefined
        readonly valuesFiles?: readonly string[] | undefined
      }
    | undefined
  readonly kustomize?: { readonly dir?: string | undefined } | undefined
  /** For namespaced objects that name no namespace. */
  readonly defaultNamespace?: string | undefined
  /** For every namespaced object; objects without namespaces are refused then. */
  readonly targetNamespace?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly images?: readonly ImageRewrite[] | undefined
  readonly patches?: readonly ObjectPatch[] | undefined
}

/** A layer for some clusters: a variant of the bundle, or an Override. */
export interface Layer extends LayerOptions {
  readonly name: string
  readonly clusterSelector?: LabelSelector | undefined
  /** By name; with a selector, both must hold. */
  readonly clusters?: readonly string[] | undefined
  /** The bundle is not for these clusters. */
  readonly skip?: boolean | undefined
}

/** How to render a bundle. */
export interface BundleRecipe extends LayerOptions {
  /** `namespace/name`. */
  readonly bundle: string
  /** Objects as YAML, when they do not come from a source. */
  readonly manifests?: string | undefined
  /** The artifact, and the directory in it. */
  readonly artifact?: Digest | undefined
  readonly path?: string | undefined
  readonly ignore?: readonly string[] | undefined
  readonly style?: 'Raw' | 'Kustomize' | 'Helm' | undefined
  /** `${ }` in files and values is expanded per cluster. */
  readonly templating?: boolean | undefined
  /** Secrets with content in the repository are taken nevertheless. */
  readonly allowSecrets?: boolean | undefined
  /** Whose rules charts follow. */
  readonly helmVersion?: 'helm3' | 'helm4' | undefined
  readonly variants?: readonly Layer[] | undefined
  /** Only the first variant that fits counts. */
  readonly firstVariantOnly?: boolean | undefined
  readonly overrides?: readonly Layer[] | undefined
  /** Named values beside those of the cluster; a table has one row per cluster. */
  readonly inputs?: Readonly<Record<string, InputSource>> | undefined
}

/** Where an input comes from: a value that is known already, a file of the artifact, or the cluster's row of a table in one. */
export type InputSource =
  | { readonly value: unknown }
  | { readonly file: string }
  | { readonly table: string; readonly key: string }
