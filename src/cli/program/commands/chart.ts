import { writeBytes } from '../../executable/process-output.ts'
import { addTemplateFlags } from '../../template/helm-flags.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `template`: a chart without a hub. */
export function addTemplate(program: FlotillaCommand, act: Act): void {
  const command = program
    .command('template')
    .helpGroup(GROUP.offline)
    .argument('<words...>', '[NAME] CHART')
    .about(
      'Render a Helm chart',
      'Prints what "helm template" prints, without Helm and without a hub. All flags of "helm template" are accepted.',
    )
    .example('Render a chart with a values file', 'flotilla template web ./chart -f values.yaml')
    .example('Print the origin of each line and value', 'flotilla template web ./chart --explain')
  addTemplateFlags(command).action(
    act(async (run, words, flags) => {
      const { template } = await import('../../commands/preview/template.ts')
      const toStdout = run.writeBytes ?? ((bytes: Uint8Array) => writeBytes('stdout', bytes))
      return await template(words, { ...run, writeBytes: toStdout }, flags)
    }),
  )
}
