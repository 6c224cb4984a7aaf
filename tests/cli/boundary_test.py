from blackbox import main

main()
