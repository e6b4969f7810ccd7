/** YAML or JSON of users, as Argo CD reads it. */
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'

/** Parses a text; reports one that cannot be parsed. */
export function readText(text: string, file: string, wrong: (message: string) => void): unknown {
  try {
    return readFirstYaml(text, { file, resolver: '1.1', duplicateKeys: 'last' }).value
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    wrong(caught.message)
    return undefined
  }
}
