/** The fields of Bundle.spec, of Bundles that people write themselves. */
import { exact, near, refused } from '../field-table.ts'
import type { Fields } from '../field-table.ts'
import { BUNDLE, CUSTOMIZATION, HELM, TARGET_FIELDS } from './fields.ts'

/** `Bundle.spec`. */
export const BUNDLE_SPEC: Fields = {
  ...BUNDLE,
  helm: exact(
    {
      ...HELM,
      chart: exact(
        'text',
        'A directory of `resources`, a chart of `repo`, `oci://…`, or an archive. A chart that `fleet apply` put into `resources` is used as it is.',
      ),
      valuesFiles: near('texts', 'Read from `resources`; in Fleet, only `fleet apply` reads them.'),
    },
    '',
  ),
  resources: exact(
    {
      items: {
        name: exact('text', 'The path of the file; `manifestNNN.yaml` without it.'),
        content: exact('text', ''),
        encoding: exact('text', 'None, or `base64+gz`.'),
      },
    },
    'The files of a Source.',
  ),
  targets: exact(
    { items: CUSTOMIZATION },
    'A Placement, and `variants` for the options; the first target that matches counts. Without targets, no cluster is selected.',
  ),
  targetRestrictions: exact(
    { items: TARGET_FIELDS },
    'As many of the last `targets` select the clusters; the targets before them are customizations.',
  ),
  targetCustomizationMode: exact('text', '`variantMode`: FirstMatch or AllMatches.'),
  contentsId: refused('text', 'contentsId names content in a registry: write the files into resources'),
  helmOpOptions: refused('map', 'helmOpOptions are of a Bundle that a HelmOp made: create the HelmOp instead'),
  valuesHash: refused(
    'text',
    'valuesHash says that the values are in a Secret: write the values into helm.values, and values that are secret into helm.valuesFrom',
  ),
}
