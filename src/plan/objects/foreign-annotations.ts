/**
 * What annotations of Helm and Argo CD say, in our own words; the tables of docs/hooks.md. Those of our own on the same
 * object win.
 */
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'

type Annotations = Readonly<Record<string, string>>

/** Argo CD's sync options on an object; the others change nothing here or are always so. */
export const ARGO_SYNC_OPTIONS: Readonly<Record<string, Annotations>> = {
  'Prune=false': { 'flotilla.dev/prune': 'Never' },
  'Prune=confirm': { 'flotilla.dev/prune': 'Confirm' },
  'PruneLast=true': { 'flotilla.dev/prune': 'Last' },
  'Delete=false': { 'flotilla.dev/delete': 'Orphan' },
  'Replace=true': { 'flotilla.dev/apply': 'Replace' },
  'ServerSideApply=true': { 'flotilla.dev/apply': 'ServerSideApply' },
  'Force=true': { 'flotilla.dev/immutable': 'Recreate' },
}

/** An object's annotations with what others' say added to our own. */
export function ownAnnotations({ dialect = 'Helm' }: BundleOptions, annotations: Annotations): Annotations {
  const keep = annotations['helm.sh/resource-policy']?.trim().toLowerCase() === 'keep'
  const helm: Annotations = keep ? { 'flotilla.dev/delete': 'Orphan' } : {}
  return { ...helm, ...(dialect === 'Argo' ? argo(annotations) : {}), ...annotations }
}

function argo(annotations: Annotations): Annotations {
  const options = (annotations['argocd.argoproj.io/sync-options'] ?? '').split(',').map((option) => option.trim())
  const wave = annotations['argocd.argoproj.io/sync-wave']?.trim() ?? ''
  const said = options.map((option) => (Object.hasOwn(ARGO_SYNC_OPTIONS, option) ? ARGO_SYNC_OPTIONS[option]! : {}))
  // What is no number is wave 0 to Argo CD.
  return Object.assign({}, /^-?\d{1,6}$/.test(wave) ? { 'flotilla.dev/wave': wave } : {}, ...said) as Annotations
}
