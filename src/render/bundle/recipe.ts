/**
 * The recipe of a bundle as plain data: it is sent to another thread, and its digest tells whether the inputs changed.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'

/** A change to one object after rendering: a JSON merge patch (null removes). */
export interface ObjectPatch {
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly patch: JsonObject
}

/** Replaces the prefix `from` of image names by `to`. */
export interface ImageRewrite {
  readonly from: string
  readonly to: string
}

/** Values that are read in the cluster: a key of a ConfigMap or Secret. */
export interface ClusterValues {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  /** Defaults to the namespace of the release. */
  readonly namespace?: string | undefined
  /** Defaults to `values.yaml`. */
  readonly key?: string | undefined
  /** The path at which the text is set. If omitted, the text must be YAML with a mapping of values. */
  readonly targetPath?: string | undefined
  /** If true, rendering continues without the object. Otherwise rendering waits for it. */
  readonly optional?: boolean | undefined
}

/** The options of a layer. Later layers win, values are merged, lists are appended. */
export interface LayerOptions {
  readonly helm?:
    | {
        readonly chart?: string | undefined
        readonly releaseName?: string | undefined
        readonly values?: JsonObject | undefined
        readonly valuesFiles?: readonly string[] | undefined
        /** If true, `${ }` in values, and only in values, is expanded; the result is parsed as YAML again. */
        readonly valuesTemplating?: 'None' | 'Labels' | 'Templates' | undefined
        /** Values by top-level key as YAML templates; they win over all remaining values. */
        readonly templateValues?: Readonly<Record<string, string>> | undefined
        /** The namespace that templates see. Defaults to that of the objects. */
        readonly namespace?: string | undefined
        readonly skipCrds?: boolean | undefined
        readonly skipSchemaValidation?: boolean | undefined
        /** The Kubernetes version that templates see. Defaults to the cluster's. */
        readonly kubeVersion?: string | undefined
        /** API versions that templates see in addition. */
        readonly apiVersions?: readonly string[] | undefined
        /**
         * References to values in the cluster; they win over all remaining values. Requires rendering in the cluster.
         */
        readonly valuesFrom?: readonly ClusterValues[] | undefined
      }
    | undefined
  readonly kustomize?: { readonly dir?: string | undefined } | undefined
  /** The namespace of namespaced objects without a namespace. */
  readonly defaultNamespace?: string | undefined
  /** The namespace of every object. Cluster-scoped objects are refused. */
  readonly targetNamespace?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly images?: readonly ImageRewrite[] | undefined
  readonly patches?: readonly ObjectPatch[] | undefined
  /** Directories below `overlays/` whose files replace, add or patch plain manifests; appended over the layers. */
  readonly overlays?: readonly string[] | undefined
}

/** Selects clusters by labels and names; both must match. */
export interface LayerClusters {
  readonly clusterSelector?: LabelSelector | undefined
  readonly clusters?: readonly string[] | undefined
}

/** A layer for some clusters: a variant of the bundle, or an Override. */
export interface Layer extends LayerOptions, LayerClusters {
  readonly name: string
  /** At least one of these selectors must match too. If omitted, no further match is required. */
  readonly anyOf?: readonly LayerClusters[] | undefined
  /** If true, the bundle is excluded from these clusters. */
  readonly skip?: boolean | undefined
}

/** The inputs of rendering a bundle, without the files. */
export interface BundleRecipe extends LayerOptions {
  /** `namespace/name`. */
  readonly bundle: string
  /** Objects as YAML, if the bundle has no source. */
  readonly manifests?: string | undefined
  /** Objects as YAML in several texts, each with its location for messages. */
  readonly manifestParts?: readonly { readonly file: string; readonly text: string }[] | undefined
  /** The artifact, and the bundle's directory in it. */
  readonly artifact?: Digest | undefined
  readonly path?: string | undefined
  readonly ignore?: readonly string[] | undefined
  readonly style?: 'Raw' | 'Kustomize' | 'Helm' | undefined
  /** The builder that makes the objects from the files, instead of a style. */
  readonly builder?: BuilderCall | undefined
  /** Further artifacts, mounted as directories below the path. */
  readonly include?: readonly { readonly artifact: Digest; readonly at: string }[] | undefined
  /** Options for reading plain manifests. */
  readonly raw?: RawRules | undefined
  /** If true, `${ }` in files and values is expanded per cluster. */
  readonly templating?: boolean | undefined
  /** If true, Secrets with content in the repository are allowed. */
  readonly allowSecrets?: boolean | undefined
  /** Where charts are rendered. Defaults to the hub. */
  readonly at?: 'Hub' | 'Agent' | undefined
  /** The Helm version whose rules charts follow. */
  readonly helmVersion?: 'helm3' | 'helm4' | undefined
  readonly variants?: readonly Layer[] | undefined
  /** If true, only the first matching variant counts. */
  readonly firstVariantOnly?: boolean | undefined
  readonly overrides?: readonly Layer[] | undefined
  /** Named values in addition to the cluster's; a table has one row per cluster. */
  readonly inputs?: Readonly<Record<string, InputSource>> | undefined
  /** Keys of files that SOPS encrypted. Builders alone get them; no template does. */
  readonly sops?: SopsKeys | undefined
  /** Keys in the cluster: the hub leaves files of SOPS encrypted, and the agent decrypts them. */
  readonly decryptInCluster?: ClusterDecryption | undefined
}

/** The Secret of a cluster with the keys of files that SOPS encrypted. */
export interface ClusterDecryption {
  readonly namespace: string
  /** If omitted, there are no keys, and the agent says so for each encrypted object. */
  readonly secret?: string | undefined
  /** Whether files are refused whose authentication code does not fit. */
  readonly checkMac: boolean
}

/** How builders decrypt files of SOPS. */
export interface SopsKeys {
  /** The texts of the key files by name: `*.agekey` and `*.asc`. */
  readonly keys: Readonly<Record<string, string>>
  /** Whether files are refused whose authentication code does not fit. */
  readonly checkMac: boolean
}

/** A builder by its name, and what it is to build. */
export interface BuilderCall {
  readonly name: string
  readonly options?: JsonObject | undefined
}

/** Options for reading a directory of plain manifests. */
export interface RawRules {
  /** Subdirectories with a kustomization. Defaults to Skip. */
  readonly kustomizations?: 'Skip' | 'Include' | undefined
  /** Documents that are not Kubernetes objects. Defaults to Refuse. */
  readonly otherDocuments?: 'Refuse' | 'Skip' | undefined
  /** Files below `templates/`: plain manifests, or templates of a chart with `helm.values`. Defaults to AsIs. */
  readonly templates?: 'AsIs' | 'Render' | undefined
}

/** The source of an input: a literal value, a file of the artifact, or the cluster's row of a table in a file. */
export type InputSource =
  | { readonly value: unknown }
  | { readonly file: string }
  | { readonly table: string; readonly key: string }
