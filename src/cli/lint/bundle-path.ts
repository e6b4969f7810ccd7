import type { Bundle } from '../../kinds/native/bundle.ts'

/** Whether a file of the repository is below the path of a Bundle. */
export function isBelowPath(bundle: Pick<Bundle, 'spec'>, file: string): boolean {
  const path = (bundle.spec.source?.path ?? '').replace(/^(\.?\/)+|\/+$/g, '')
  return path === '' || path === '.' || file.startsWith(`${path}/`)
}
