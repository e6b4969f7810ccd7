/** Parses `-o` and prints objects in its formats. */
import { isObject } from '../../core/json.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { parseJsonPath } from './jsonpath.ts'
import { didYouMean } from '../errors/did-you-mean.ts'

/** Prints objects. `single`: one object was requested by name. */
export type ObjectPrinter = (
  objects: readonly Record<string, unknown>[],
  how: { readonly single: boolean; readonly names: (object: Record<string, unknown>) => string },
) => string

/** A parsed `-o`. */
export type OutputFormat =
  | { readonly kind: 'table'; readonly wide: boolean; readonly csv?: boolean }
  | { readonly kind: 'objects'; readonly printer: ObjectPrinter }

const FORMATS = ['table', 'wide', 'yaml', 'json', 'name', 'jsonpath', 'csv']

/** Parses the value of `-o`. */
export async function parseOutput(
  text: string,
  options: { readonly showManagedFields: boolean },
): Promise<OutputFormat> {
  const shown = (object: Record<string, unknown>): Record<string, unknown> =>
    options.showManagedFields ? object : withoutManagedFields(object)
  const whole = (objects: readonly Record<string, unknown>[], single: boolean): unknown =>
    single
      ? shown(objects[0]!)
      : { apiVersion: 'v1', items: objects.map(shown), kind: 'List', metadata: { resourceVersion: '' } }
  if (text === 'table') return { kind: 'table', wide: false }
  if (text === 'wide') return { kind: 'table', wide: true }
  if (text === 'csv') return { kind: 'table', wide: true, csv: true }
  if (text === 'json') {
    return {
      kind: 'objects',
      printer: (objects, { single }) => `${JSON.stringify(whole(objects, single), undefined, 4)}\n`,
    }
  }
  if (text === 'yaml') {
    // The YAML writer is loaded for YAML output only.
    const { writeYaml } = await import('../../yaml/write/write-yaml.ts')
    return { kind: 'objects', printer: (objects, { single }) => writeYaml(whole(objects, single)) }
  }
  if (text === 'name') {
    return {
      kind: 'objects',
      printer: (objects, { names }) => objects.map((object) => `${names(object)}\n`).join(''),
    }
  }
  const match = /^jsonpath(?:=(.*))?$/s.exec(text)
  if (match) {
    if (!match[1]) throw wrongOutput('missing template for jsonpath', "use -o jsonpath='{.metadata.name}'")
    const path = parsedPath(match[1])
    return { kind: 'objects', printer: (objects, { single }) => path(whole(objects, single)) }
  }
  throw wrongOutput(
    `unknown output format ${JSON.stringify(text)}`,
    didYouMean(text, FORMATS) ?? `use one of ${FORMATS.join(', ')}`,
  )
}

function parsedPath(template: string): (value: unknown) => string {
  try {
    return parseJsonPath(template)
  } catch (caught) {
    throw wrongOutput(`invalid JSONPath template: ${String(caught instanceof Error ? caught.message : caught)}`)
  }
}

function wrongOutput(what: string, todo?: string): CliError {
  return new CliError(EXIT.usage, { what, ...(todo !== undefined && { todo }) })
}

function withoutManagedFields(object: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(object['metadata'])) return object
  const { managedFields: _, ...metadata } = object['metadata']
  return { ...object, metadata }
}
