/** What a bundle is rendered from, as plain data: it travels to another thread, and its digest says whether anything changed. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'

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

/** Values that are read in the cluster: a key of a ConfigMap or Secret there. */
export interface ClusterValues {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  /** The release's unless said. */
  readonly namespace?: string | undefined
  /** `values.yaml` unless said. */
  readonly key?: string | undefined
  /** Where the text goes, as it is; without it the text is YAML with a map of values. */
  readonly targetPath?: string | undefined
  /** Without it nothing is rendered while it is missing. */
  readonly optional?: boolean | undefined
}

/** What a layer may say; later layers win, values are merged, lists are added. */
export interface LayerOptions {
  readonly helm?:
    | {
        readonly chart?: string | undefined
        readonly releaseName?: string | undefined
        readonly values?: JsonObject | undefined
        readonly valuesFiles?: readonly string[] | undefined
        /** Whether `${ }` in values, and only there, is expanded; the text is read as YAML again. */
        readonly valuesTemplating?: 'None' | 'Labels' | 'Templates' | undefined
        /** Values by top-level key as templates of YAML, over all others. */
        readonly templateValues?: Readonly<Record<string, string>> | undefined
        /** Over all other values, later ones over earlier ones; only where rendering is done in the cluster. */
        readonly valuesFrom?: readonly ClusterValues[] | undefined
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
  /** Directories below `overlays/` whose files replace, add to or patch plain manifests; added up over the layers. */
  readonly overlays?: readonly string[] | undefined
}

/** Some clusters: those with the labels, of the names; both must hold. */
export interface LayerClusters {
  readonly clusterSelector?: LabelSelector | undefined
  readonly clusters?: readonly string[] | undefined
}

/** A layer for some clusters: a variant of the bundle, or an Override. */
export interface Layer extends LayerOptions, LayerClusters {
  readonly name: string
  /** Besides, one of these must fit; absent: nothing more is asked. */
  readonly anyOf?: readonly LayerClusters[] | undefined
  /** The bundle is not for these clusters. */
  readonly skip?: boolean | undefined
}

/** How to render a bundle. */
export interface BundleRecipe extends LayerOptions {
  /** `namespace/name`. */
  readonly bundle: string
  /** Objects as YAML, when they do not come from a source. */
  readonly manifests?: string | undefined
  /** The same in parts, each with where it is. */
  readonly manifestParts?: readonly { readonly file: string; readonly text: string }[] | undefined
  /** The artifact, and the directory in it. */
  readonly artifact?: Digest | undefined
  readonly path?: string | undefined
  readonly ignore?: readonly string[] | undefined
  readonly style?: 'Raw' | 'Kustomize' | 'Helm' | undefined
  /** Other artifacts, as directories below the path. */
  readonly include?: readonly { readonly artifact: Digest; readonly at: string }[] | undefined
  /** How plain manifests are read. */
  readonly raw?: RawRules | undefined
  /** `${ }` in files and values is expanded per cluster. */
  readonly templating?: boolean | undefined
  /** Secrets with content in the repository are taken nevertheless. */
  readonly allowSecrets?: boolean | undefined
  /** Where charts are rendered; on the hub unless said. */
  readonly at?: 'Hub' | 'Agent' | undefined
  /** Whose rules charts follow. */
  readonly helmVersion?: 'helm3' | 'helm4' | undefined
  readonly variants?: readonly Layer[] | undefined
  /** Only the first variant that fits counts. */
  readonly firstVariantOnly?: boolean | undefined
  readonly overrides?: readonly Layer[] | undefined
  /** Named values beside those of the cluster; a table has one row per cluster. */
  readonly inputs?: Readonly<Record<string, InputSource>> | undefined
}

/** How a directory of plain manifests is read. */
export interface RawRules {
  /** Directories below that have a kustomization: somebody else's (Skip, unless said), or manifests like others. */
  readonly kustomizations?: 'Skip' | 'Include' | undefined
  /** Documents that are no Kubernetes objects: a mistake (Refuse, unless said), or nothing. */
  readonly otherDocuments?: 'Refuse' | 'Skip' | undefined
  /** `templates/`: manifests like others (AsIs, unless said), or templates of a chart, with `helm.values`. */
  readonly templates?: 'AsIs' | 'Render' | undefined
}

/** Where an input comes from: a value that is known already, a file of the artifact, or the cluster's row of a table in one. */
export type InputSource =
  | { readonly value: unknown }
  | { readonly file: string }
  | { readonly table: string; readonly key: string }
