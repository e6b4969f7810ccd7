import { historySuite } from '../../testing/api-contract/apply-history/homes.ts'

historySuite(2000)
