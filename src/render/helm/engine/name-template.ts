/** `--name-template`: a release name made by a template that sees no chart. */
import { executeTemplate } from '../../gotemplate/exec.ts'
import { TemplateExecError } from '../../gotemplate/exec-options.ts'
import { parseTemplate, TemplateParseError } from '../../gotemplate/parse.ts'
import { RandomDraws } from '../frozen-random.ts'
import type { Entropy } from '../frozen-random.ts'
import { helmFunctions } from '../functions/helm-functions.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'

/** What Helm adds to Sprig for charts, which names do not have. */
const CHARTS_ONLY = [
  'fromJson',
  'fromJsonArray',
  'fromToml',
  'fromYaml',
  'fromYamlArray',
  'getHostByName',
  'lookup',
  'mustToYaml',
  'mustToToml',
  'toToml',
  'toYaml',
  'toYamlPretty',
]

/** The name; throws HelmError in Go's words. */
export function nameFromTemplate(text: string, entropy: Entropy, profile: HelmProfile): string {
  const functions = helmFunctions({ profile, draws: new RandomDraws(entropy), lookUp: () => undefined })
  for (const name of CHARTS_ONLY) functions.delete(name)
  try {
    const trees = parseTemplate('name-template', text, (name) => functions.has(name))
    return executeTemplate(trees.get('name-template')!, undefined, {
      template: (name) => trees.get(name),
      functions,
    })
  } catch (error) {
    if (error instanceof TemplateParseError || error instanceof TemplateExecError) {
      throw new HelmError(error.message, { cause: error })
    }
    throw error
  }
}
