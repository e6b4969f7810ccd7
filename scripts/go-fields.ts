// What only the Go types of the API know: which fields are pointers, and which are left out when they are empty.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A field of a Go struct. */
export interface GoField {
  readonly isPointer: boolean
  readonly omitEmpty: boolean
  readonly omitZero: boolean
}

/** Where the packages of the API are, in the module cache that the test environment was built from. */
const FOLDERS: Readonly<Record<string, string>> = {
  meta: 'apimachinery@VERSION/pkg/apis/meta',
  apiextensions: 'apiextensions-apiserver@VERSION/pkg/apis/apiextensions',
  apiregistration: 'kube-aggregator@VERSION/pkg/apis/apiregistration',
}

const ALIASES: Readonly<Record<string, string>> = { v1: 'core.v1', corev1: 'core.v1', metav1: 'meta.v1' }

/** Reads the structs of a version of Kubernetes such as v1.36.3. */
export function goFields(gitVersion: string): (type: string) => ReadonlyMap<string, GoField> {
  const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
  const version = gitVersion.replace(/^v1\./, 'v0.')
  const packages = new Map<string, string>()
  const sourceOf = (name: string): string => {
    const known = packages.get(name)
    if (known !== undefined) return known
    const [group = '', apiVersion = ''] = name.split('.')
    const folder = join(
      cache,
      'k8s.io',
      (FOLDERS[group] ?? `api@VERSION/${group}`).replace('VERSION', version),
      apiVersion,
    )
    if (!existsSync(folder))
      throw new Error(`${folder} is not there: run npm run testenv first, it fetches the modules`)
    const files = readdirSync(folder).filter((file) => /^[a-z_]*types[a-z_]*\.go$/.test(file))
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
    packages.set(name, text)
    return text
  }
  const fieldsOf = (type: string): Map<string, GoField> => {
    const dot = type.lastIndexOf('.')
    const home = type.slice(0, dot)
    const found = new Map<string, GoField>()
    const struct = new RegExp(`^type ${type.slice(dot + 1)} struct ?\\{(?:\\}|\n(.*?)^\\})`, 'ms').exec(sourceOf(home))
    if (!struct) throw new Error(`no struct ${type} in the Go sources`)
    for (const line of (struct[1] ?? '').split('\n')) {
      const field = /^\s*(?:\w+\s+)?(\S+)\s+`.*json:"([^"]*)"/.exec(line.replace(/\/\/.*$/, ''))
      if (!field) continue
      const [goType = '', tag = ''] = field.slice(1)
      const [name = '', ...options] = tag.split(',')
      if (name === '' && options.includes('inline')) {
        const embedded = goType.replace('*', '').split('.')
        const target =
          embedded.length === 1 ? `${home}.${embedded[0]}` : `${ALIASES[embedded[0]!] ?? home}.${embedded[1]}`
        if (target !== 'meta.v1.TypeMeta') for (const [key, value] of fieldsOf(target)) found.set(key, value)
        continue
      }
      found.set(name, {
        isPointer: goType.startsWith('*'),
        omitEmpty: options.includes('omitempty'),
        omitZero: options.includes('omitzero'),
      })
    }
    return found
  }
  return fieldsOf
}
