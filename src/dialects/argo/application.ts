/** An Application as Flotilla objects: how it is rendered, applied and rolled out. */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { jsonPathsOfJq } from '../jq-paths.ts'
import type { DirectoryOptions } from './build/directory-manifests.ts'
import type { KustomizeOptions } from './build/kustomize-edits.ts'
import type { BundleOptions, ObjectSelector } from '../../kinds/fields/bundle-options.ts'

/** A source of an Application. */
export interface ArgoSource {
  readonly repoURL?: string
  readonly path?: string
  readonly targetRevision?: string
  readonly chart?: string
  readonly ref?: string
  readonly helm?: {
    readonly releaseName?: string
    readonly valueFiles?: readonly string[]
    readonly values?: string
    readonly valuesObject?: JsonObject
    readonly parameters?: readonly { readonly name?: string; readonly value?: string; readonly forceString?: boolean }[]
    readonly fileParameters?: readonly { readonly name?: string; readonly path?: string }[]
    readonly ignoreMissingValueFiles?: boolean
    readonly skipCrds?: boolean
    readonly skipSchemaValidation?: boolean
    readonly namespace?: string
    readonly kubeVersion?: string
    readonly apiVersions?: readonly string[]
  }
  readonly directory?: DirectoryOptions
  readonly kustomize?: KustomizeOptions & JsonObject
}

/** The spec of an Application. */
export interface ApplicationSpec {
  readonly source?: ArgoSource
  readonly sources?: readonly ArgoSource[]
  readonly destination?: { readonly name?: string; readonly server?: string; readonly namespace?: string }
  readonly syncPolicy?: {
    readonly automated?: {
      readonly enabled?: boolean
      readonly prune?: boolean
      readonly selfHeal?: boolean
      readonly allowEmpty?: boolean
    }
    readonly syncOptions?: readonly string[]
    readonly retry?: { readonly limit?: number }
    readonly managedNamespaceMetadata?: {
      readonly labels?: Readonly<Record<string, string>>
      readonly annotations?: Readonly<Record<string, string>>
    }
  }
  readonly ignoreDifferences?: readonly {
    readonly group?: string
    readonly kind?: string
    readonly name?: string
    readonly namespace?: string
    readonly jsonPointers?: readonly string[]
    readonly jqPathExpressions?: readonly string[]
    readonly managedFieldsManagers?: readonly string[]
  }[]
  readonly revisionHistoryLimit?: number
}

/** Receives warnings about approximations, and errors. */
export interface Diagnostics {
  note(message: string): void
  wrong(message: string): void
}

/** Whether the Application syncs automatically. */
export function isAutomated({ syncPolicy }: ApplicationSpec): boolean {
  return syncPolicy?.automated !== undefined && syncPolicy.automated.enabled !== false
}

const FINALIZER = 'resources-finalizer.argocd.argoproj.io'
const MOST_RETRIES = 10
const MAX_IGNORE = 64
// Options that have no effect, because Flotilla always behaves that way.
const AS_IT_IS = new Set([
  'ServerSideApply=true',
  'ApplyOutOfSyncOnly=true',
  'RespectIgnoreDifferences=true',
  'ClientSideApplyMigration=true',
  'FailOnSharedResource=true',
  'SkipDryRunOnMissingResource=true',
  'CreateNamespace=false',
  'Replace=false',
  'Force=false',
  'PruneLast=false',
  'Validate=true',
  'Prune=true',
  'Delete=true',
])

/** The fields of an Application besides its spec. */
export interface ApplicationTraits {
  readonly finalizers: readonly string[]
  /** Whether an ApplicationSet syncs the Application step by step; then its own sync policy does not count. */
  readonly isStepped: boolean
  /** What a sync that a user asked for changes. */
  readonly operation?: { readonly prune?: boolean; readonly skipHooks?: boolean }
  /** Rules of `argocd-cm` for all Applications; objects are then judged as Argo CD judges them. */
  readonly settings?: Pick<BundleOptions, 'health' | 'ignore'> & { readonly exclude?: readonly ObjectSelector[] }
}

/** The options for applying, pruning and deleting objects. */
export function optionsOf(spec: ApplicationSpec, traits: ApplicationTraits, remarks: Diagnostics): BundleOptions {
  const { finalizers, isStepped, operation = {}, settings } = traits
  const { automated, syncOptions = [], retry, managedNamespaceMetadata } = spec.syncPolicy ?? {}
  const has = (option: string): boolean => syncOptions.includes(option)
  const used = ['CreateNamespace=true', 'Replace=true', 'Force=true', 'PruneLast=true', 'Prune=false', 'Prune=confirm']
  for (const option of syncOptions) {
    const isKnown = AS_IT_IS.has(option) || used.includes(option) || option.startsWith('PrunePropagationPolicy=')
    if (!isKnown) remarks.note(`syncPolicy.syncOptions: ${option} has no effect`)
  }
  const finalizer = finalizers.find((one) => one.startsWith(FINALIZER))
  const policy = syncOptions.find((one) => one.startsWith('PrunePropagationPolicy='))?.split('=')[1]
  const isBackground = policy === undefined ? (finalizer?.endsWith('/background') ?? true) : policy === 'background'
  const keep = finalizer === undefined
  const limit = retry?.limit ?? 0
  const own = (spec.ignoreDifferences ?? []).flatMap((rule) => ignoreOf(rule, remarks))
  const ignore = [...own, ...(settings?.ignore ?? [])]
  if (ignore.length > MAX_IGNORE) {
    remarks.wrong(`ignoreDifferences has ${own.length} rules; at most ${MAX_IGNORE} are used, with those of argocd-cm`)
  }
  return compact({
    apply: compact({
      // As in Argo CD, existing objects are adopted, whichever field manager wrote them.
      force: true,
      method: has('Replace=true') ? ('Replace' as const) : undefined,
      immutable: has('Force=true') ? ('Recreate' as const) : undefined,
    }),
    drift: { mode: isAutomated(spec) && automated?.selfHeal ? 'Correct' : 'Report' },
    prune: { mode: pruneOf(spec, has, { isStepped, isAsked: operation.prune === true }) },
    delete: {
      ...(keep ? { unplaced: 'Orphan' as const, bundleDeleted: 'Orphan' as const } : {}),
      // As in Argo CD, what is excluded later stays.
      ...compact({ orphan: settings?.exclude && [...settings.exclude] }),
      propagation: isBackground ? 'Background' : 'Foreground',
    },
    namespaces: compact({
      create: has('CreateNamespace=true'),
      labels: managedNamespaceMetadata?.labels ? { ...managedNamespaceMetadata.labels } : undefined,
      annotations: managedNamespaceMetadata?.annotations ? { ...managedNamespaceMetadata.annotations } : undefined,
    }),
    remediation: limit === 0 ? undefined : { retries: limit < 0 ? MOST_RETRIES : Math.min(limit, MOST_RETRIES) },
    ignore: ignore.length === 0 ? undefined : ignore,
    health: settings?.health?.length ? settings.health : undefined,
    healthProfile: settings ? ('Argo' as const) : undefined,
    hooks: operation.skipHooks ? ('Skip' as const) : undefined,
    dialect: 'Argo',
  })
}

function pruneOf(
  spec: ApplicationSpec,
  has: (option: string) => boolean,
  { isStepped, isAsked }: { readonly isStepped: boolean; readonly isAsked: boolean },
): 'Always' | 'Never' | 'Last' | 'Confirm' {
  if (has('Prune=false')) return 'Never'
  if (has('Prune=confirm')) return 'Confirm'
  if (!isAsked) {
    if (!(isStepped || isAutomated(spec))) return 'Confirm'
    if (!spec.syncPolicy?.automated?.prune) return 'Never'
  }
  return has('PruneLast=true') ? 'Last' : 'Always'
}

type IgnoreRule = NonNullable<ApplicationSpec['ignoreDifferences']>[number]

/** The fields that a rule of `ignoreDifferences` leaves alone. */
export function ignoreOf(rule: IgnoreRule, { wrong }: Diagnostics): NonNullable<BundleOptions['ignore']> {
  const { group, kind, name, namespace, jsonPointers = [], jqPathExpressions = [], managedFieldsManagers = [] } = rule
  const paths = jqPathExpressions.flatMap((expression) => {
    const found = jsonPathsOfJq(expression)
    if (found) return found
    wrong(
      `ignoreDifferences: ${expression} computes something; only paths, [] and select(.field == "value") are possible, or jsonPointers`,
    )
    return []
  })
  if (jsonPointers.length + paths.length + managedFieldsManagers.length === 0) return []
  const said = (value: string | undefined): value is string => value !== undefined && value !== '' && value !== '*'
  return [
    compact({
      group: group === '*' || group === undefined ? undefined : group,
      kind: said(kind) ? kind : undefined,
      namespace: said(namespace) ? namespace : undefined,
      name: said(name) ? name : undefined,
      pointers: jsonPointers.length === 0 ? undefined : [...jsonPointers],
      paths: paths.length === 0 ? undefined : paths,
      managers: managedFieldsManagers.length === 0 ? undefined : [...managedFieldsManagers],
    }),
  ]
}

/** All strings of a value, each with its path. */
export function* textsIn(value: unknown, path = ''): Generator<readonly [path: string, text: string]> {
  if (typeof value === 'string') yield [path, value]
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* textsIn(item, `${path}[${at}]`)
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      yield [path, key]
      yield* textsIn(item, path === '' ? key : `${path}.${key}`)
    }
  }
}
