import { foldText } from '../../text/words.ts'

/**
 * Words that say how a question is put and not what it is about, a language each. Left out are those that are names of
 * things as well, such as German “hat” and “war”.
 */
const languages = [
  // English
  `a am an and any are aren as at be been being between but by can could did didn do does doesn doing don done
  for from had has have having he her here hers him his how i if in is isn it its ll may me might must my no
  nor not of on or our ours re shall she should so some than that the their theirs them then there these
  they this those though to too us ve was wasn we were what when where whether which while who whom whose
  why will with would you your yours`,
  // Spanish
  `a al algo alguien algun alguna algunas alguno algunos ante aquel aquella asi aun bajo cada como con cual cuales
  cuando cuanta cuantas cuanto cuantos de debe debo del desde donde durante e el ella ellas ellos en entre era
  eran es esa esas ese eso esos esta estaba estan estas este esto estos estoy fue fueron ha habia han hasta hay he
  la las le les lo los mas me mi mia mio mis muy ni no nos nosotros nuestra nuestro o para pero por porque pueda
  puede pueden puedo que quien quienes se sea segun ser si sido sin sobre somos soy su sus tambien tan te tengo
  ti tiene tienen todo tu tus tuvo u un una unas uno unos usted ustedes y ya yo`,
  // German
  `ab aber alle als also am an andere auch auf aus bei beim bis da damit dann darf das dass dein deine dem den
  denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
  eines er es etwas euch euer fur gegen gibt habe haben hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren
  ihrer im in ins ist ja jede jeder kann kein keine keinen konnen konnte man mein meine meinem meinen
  meiner mich mir mit muss mussen nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit
  sich sie sind so soll sollte uber um und uns unser unsere unter vom von vor wahrend wann waren warum was wegen
  weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieso wieviel wieviele wir
  wird wo woher wohin wurde wurden zu zum zur zwischen`,
  // French
  `a ai ainsi apres au aucun aussi autre aux avant avec avez avoir avons c ce ceci cela celle celui ces cet cette
  chez comme comment d dans de depuis des dois doit donc dont du elle elles en entre es est et etait etaient
  etant ete etes etre eu eux il ils j je l la le les leur leurs lui m ma mais me mes meme mon n ne ni nos notre
  nous on ont ou par parmi pas pendant peut peuvent peux plus pour pourquoi qu quand que quel quelle quelles quels
  qui quoi s sa sans se selon ses si son sont sous suis sur t ta te tes toi tous tout toute tres tu un une vers vos
  votre vous y`,
  // Italian
  `a ad agli ai al alla alle allo anche avere c che chi ci come con cosa cui da dagli dai dal dalla dalle dei degli
  del della delle dello deve devo di dopo dove e ed era erano essere fra gli ha hai hanno ho i il in io l la le lei
  li lo loro lui ma me mi mia mie miei mio ne negli nei nel nella nelle nello noi non nostra nostro o ogni per
  perche piu posso possono prima puo qual quale quali quando quanta quante quanti quanto quella quello questa
  questi questo se sei senza si sia siamo sono sta sto su sua sue sul sulla suo suoi ti tra tu tua tuo tutti un
  una uno vi voi`,
  // Portuguese
  `a ao aos aquela aquele as ate com como da das de dela dele deve devo do dos e ela elas ele eles em entre era
  eram essa esse esta estao estas este estou eu foi foram ha isso isto ja lhe mais mas me mesmo meu meus minha
  minhas muito na nao nas nem no nos nossa nosso o onde os ou para pela pelas pelo pelos por porque posso pode
  podem qual quais quando quanta quantas quanto quantos que quem se sem ser seu seus so sobre sua suas tambem tem
  tenho ter teu tu um uma umas uns voce voces`,
  // Dutch
  `aan al alle als ben bij dan dat de deze die dit doe doen door dus een en er gaat geen haar heb hebben hebt heeft
  hem het hij hoe hoeveel hun ik in is je jij jouw jullie kan kunnen kunt maar me meer met mij mijn moet moeten
  na naar niet nog nu of om omdat onder ons onze ook op over te tot u uit uw van veel voor waar waarom waren was
  wat wel welk welke werd wie wij worden wordt ze zij zijn zo zonder`,
  // Arabic
  `ما ماذا من متى أين كيف لماذا هل كم أي في على إلى عن مع بين عند بعد قبل منذ حتى أو أم ثم و لا لم لن ليس أن إن قد كان
  كانت يكون تكون هو هي هم نحن أنا أنت هذا هذه ذلك تلك التي الذي الذين اللذين كل بعض غير`,
].map((words) => new Set(foldText(words).split(/\s+/)))

/**
 * Returns the words of a question that are function words in the language which has the most of them; none if all are,
 * since such a question is about them.
 * @param words folded
 */
export function functionWordsOf(words: readonly string[]): ReadonlySet<string> {
  const counts = languages.map((language) => words.filter((word) => language.has(word)).length)
  const most = Math.max(...counts)
  const language = languages[counts.indexOf(most)]
  return language && most < words.length ? language : new Set()
}
