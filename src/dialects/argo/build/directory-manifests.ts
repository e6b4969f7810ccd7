// Tested by src/dialects/argo/build/argo-builder.test.ts
/** The manifests of a directory as Argo CD finds them: `recurse`, `include`, `exclude`, and files that opt out. */
import { fromUtf8 } from '../../../core/bytes.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { BuilderRequest } from '../../../render/bundle/builder.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { renderRaw } from '../../../render/raw.ts'
import { compileArgoGlob, matchesArgoGlob } from '../glob.ts'

/** `source.directory` of an Application. */
export interface DirectoryOptions {
  readonly recurse?: boolean
  readonly include?: string
  readonly exclude?: string
  readonly disableExtensionFilter?: boolean
}

const MANIFEST = /\.(yaml|yml|json|jsonnet)$/
const SKIPPED = /^# *\+argocd:skip-file-rendering/m

/** The objects of the files; throws RenderFailure. */
export function directoryObjects(
  { files, path }: Pick<BuilderRequest, 'files' | 'path'>,
  options: DirectoryOptions,
): UnknownObject[] {
  const { recurse = false, include = '', exclude = '', disableExtensionFilter = false } = options
  for (const [name, pattern] of Object.entries({ include, exclude })) {
    if (pattern !== '' && compileArgoGlob(pattern) === undefined)
      throw new RenderFailure(`directory.${name} ${JSON.stringify(pattern)} is not a valid pattern`)
  }
  const folder = path === '' ? '' : `${path}/`
  const own = [...files.keys()].filter((file) => file.startsWith(folder)).sort()
  if (own.length === 0) throw new RenderFailure(`${path || '.'}: app path does not exist`)
  const read = own.filter((file) => {
    const name = file.slice(folder.length)
    if (!recurse && name.includes('/')) return false
    if (!disableExtensionFilter && !MANIFEST.test(name)) return false
    if (exclude !== '' && matchesArgoGlob(exclude, name)) return false
    return include === '' || matchesArgoGlob(include, name)
  })
  return read.flatMap((file) => objectsOf(file, files.get(file)!))
}

function objectsOf(file: string, bytes: Uint8Array): UnknownObject[] {
  if (file.endsWith('.jsonnet')) throw new RenderFailure('jsonnet is not evaluated; keep its output in git', { file })
  let text: string
  try {
    text = fromUtf8(bytes)
  } catch (error) {
    throw new RenderFailure('the file is not UTF-8', { file, cause: error })
  }
  if (SKIPPED.test(text)) return []
  const result = renderRaw(text)
  if (result.ok) return [...result.objects]
  const [problem] = result.problems
  throw new RenderFailure(problem?.message ?? 'the file cannot be read', { file, cause: problem })
}
